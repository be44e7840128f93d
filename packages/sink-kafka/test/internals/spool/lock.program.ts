/** Takes a folder and gives it free, again and again, or holds it. Says what it has got, a line each. */
import { rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { lockFolder } from '../../../src/spool/lock.js';

const [folder = '', how = ''] = process.argv.slice(2);
const mark = join(folder, 'mine');
const pause = (ms: number): unknown => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

if (how === 'hold') {
  lockFolder(folder);
  writeSync(1, 'held\n');
  setInterval(() => {}, 1000);
} else {
  for (let tries = 0; tries < 12; tries++) {
    let unlock: () => void;
    try {
      unlock = lockFolder(folder);
    } catch {
      writeSync(1, 'refused\n');
      pause(Math.random() * 10);
      continue;
    }
    try {
      // Somebody else who holds the folder, too, would have made it.
      writeFileSync(mark, '', { flag: 'wx' });
      pause(Math.random() * 5);
      rmSync(mark);
      writeSync(1, 'held\n');
    } catch {
      writeSync(1, 'shared\n');
    }
    unlock();
    pause(Math.random() * 5);
  }
}
