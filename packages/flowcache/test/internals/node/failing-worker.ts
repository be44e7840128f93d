/** A worker whose second shard fails at its tenth slot. */
import { workerData } from 'node:worker_threads';
import { FlowCache } from '../../../src/cache/flow-cache.js';
import type { ShardSetup } from '../../../src/node/protocol.js';
import { ShardLoop } from '../../../src/node/shard-loop.js';

const setup = workerData as ShardSetup;
const update = FlowCache.prototype.update;
let slots = 0;
if (setup.shard === 1) {
  FlowCache.prototype.update = function (...args): void {
    if (++slots === 10) throw new Error('the tenth slot');
    update.apply(this, args);
  };
}
new ShardLoop(setup).run();
