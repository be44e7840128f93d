/**
 * Writes until it is killed, and says on standard output what it was promised: `R epoch write` the epoch begins with this
 * write, `C epoch count` a checkpoint with that many writes of the epoch is durable, `F epoch` the epoch is on disk. The
 * value of a write has its number as its version.
 */
import { writeSync } from 'node:fs';
import { EpochStore } from '@int/dart/node';
import { EPOCH_WRITES, keyOfWrite, PLAN } from './kill-plan.js';
import { keyOf, valueFor } from './values.js';

const [directory, seed] = [process.argv[2]!, Number(process.argv[3])];
const say = (line: string): unknown => writeSync(1, `${line}\n`);

const store = await EpochStore.open(directory, {
  ...PLAN,
  onCheckpoint: ({ epoch, keyWrites }) => say(`C ${epoch} ${keyWrites}`),
});
let begun = 0;
let isFlushing = false;
say(`R ${store.epoch} 0`);
for (let write = 0; ; write++) {
  const number = keyOfWrite(seed, write);
  store.write(keyOf(number), valueFor(number, write));
  if (write - begun >= EPOCH_WRITES && !isFlushing) {
    begun = write + 1;
    isFlushing = true;
    // Before it is done: whatever is found of the next epoch has been announced.
    say(`R ${store.epoch + 1n} ${begun}`);
    const rotation = store.rotate();
    if (rotation === null) throw new Error('the epoch before is on disk, and yet there was no rotation');
    rotation.finished.then(() => {
      say(`F ${rotation.epoch}`);
      isFlushing = false;
    });
  }
  if (write % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
}
