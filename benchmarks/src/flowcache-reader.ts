/** A thread that reads a ring of events; see flowcache/reading.ts. */
import { workerData } from 'node:worker_threads';
import { type ReaderSetup, read } from './flowcache/reading.js';

read(workerData as ReaderSetup);
