// A leader that never checks again once it has been elected. After its session has expired, another one leads as well.
// The mended leader listens to its session.
const zookeeper = require('node-zookeeper-client');

class Leader {
  constructor(client, path) {
    this.client = client;
    this.path = path;
    this.leads = false;
  }

  // campaign tries to become the leader now, and again whenever there is none, until it leads.
  campaign(elected) {
    this.client.create(this.path, null, zookeeper.CreateMode.EPHEMERAL, (err) => {
      if (!err) {
        this.leads = true;
        elected();
        return;
      }
      this.client.exists(this.path, () => this.campaign(elected), (_, stat) => {
        if (!stat) this.campaign(elected);
      });
    });
  }
}

class MendedLeader extends Leader {
  constructor(client, path) {
    super(client, path);
    for (const state of ['disconnected', 'expired']) {
      client.on(state, () => { this.leads = false; });
    }
  }
}

module.exports = { Leader, MendedLeader };
