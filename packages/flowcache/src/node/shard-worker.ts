/** The entry of a worker thread; ShardedFlowCache starts it. */
import { workerData } from 'node:worker_threads';
import type { ShardSetup } from './protocol.js';
import { ShardLoop } from './shard-loop.js';

// Returns when the shard has been stopped; the thread then has nothing left to live for.
new ShardLoop(workerData as ShardSetup).run();
