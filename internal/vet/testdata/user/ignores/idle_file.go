//zksim:ignore nothing at all // want `^//zksim:ignore silences nothing; remove it$`
package ignores
