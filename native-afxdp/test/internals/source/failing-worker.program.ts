/** The thread of a queue that breaks after some frames. */
import { Receiver } from '../../../src/source/receiver.js';

const receive = Receiver.prototype.receive;
let left = 1000;
Receiver.prototype.receive = function (this: Receiver, slot): number {
  if (left <= 0) throw new Error('broken by the test');
  const count = receive.call(this, slot);
  left -= count;
  return count;
};

await import('../../../src/source/worker.js');
