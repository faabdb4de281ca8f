const { spawn } = require('node:child_process');
const { createInterface } = require('node:readline');
const assert = require('node:assert');
const test = require('node:test');
const zookeeper = require('node-zookeeper-client');
const { Leader, MendedLeader } = require('./leader');

// serve starts "simrun serve", and returns its connect string, its control channel and a function that stops it.
async function serve(...flags) {
  const child = spawn(process.env.SIMRUN || 'simrun',
    ['serve', '-listen', '127.0.0.1:0', '-control', '127.0.0.1:0', ...flags], { stdio: ['ignore', 'pipe', 'inherit'] });
  const z = { stop: () => child.kill() };
  for await (const line of createInterface({ input: child.stdout })) {
    const [word, value] = line.split(/\s+/);
    if (word === 'control') z.control = value;
    if (word === 'ready') {
      z.hosts = value;
      return z;
    }
  }
  throw new Error('simrun serve has ended');
}

async function order(z, path, body) {
  const answer = await fetch(z.control + path, { method: 'POST', body });
  const text = await answer.json();
  assert.ok(answer.ok, text.error);
  return text;
}

function connect(z) {
  const client = zookeeper.createClient(z.hosts, { sessionTimeout: 10000, retries: 0 });
  return new Promise((done) => { client.once('connected', () => done(client)); client.connect(); });
}

// leaders returns how many believe that they lead when the session of the first has expired and the second was
// elected.
async function leaders(Kind) {
  const z = await serve();
  const first = await connect(z); // c1
  const second = await connect(z); // c2
  try {
    const a = new Kind(first, '/leader');
    const b = new Kind(second, '/leader');
    await new Promise((elected) => a.campaign(elected));
    const next = new Promise((elected) => b.campaign(elected));
    await order(z, '/quiet', '{"ms": 20}');
    const ended = new Promise((done) => first.once('disconnected', done));
    await order(z, '/expire', 'c1');
    await Promise.all([next, ended]);
    return [a, b].filter((x) => x.leads).length;
  } finally {
    first.close();
    second.close();
    z.stop();
  }
}

test('the broken leader goes on beside another', async () => assert.equal(await leaders(Leader), 2));
test('the mended one does not', async () => assert.equal(await leaders(MendedLeader), 1));
