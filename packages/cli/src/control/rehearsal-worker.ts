import { parentPort, workerData } from 'node:worker_threads';
import { readTopologyFile } from '../network/topology-file.js';
import { switchesOf, twinOf } from './rehearsal-programs.js';
import type { RehearsalAnswer, RehearsalRequest, RehearsalStart } from './rehearsal-thread.js';

const port = parentPort!;
const { topologyFile, programs } = workerData as RehearsalStart;
const twin = twinOf(programs);
const { signal } = new AbortController();
// What is to be told of the file was told when it was read first.
const topology = readTopologyFile(topologyFile, { env: process.env, signal }, () => {});

port.on('message', async ({ id, switches, failedLinks, collector, rest }: RehearsalRequest) => {
  let answer: RehearsalAnswer;
  try {
    const network = { topology: await topology, switches: switchesOf(switches, programs), failedLinks, collector };
    answer = { id, rehearsal: twin.rehearse(network, ...rest) };
  } catch (error) {
    answer = { id, error: error instanceof Error ? error.message : String(error) };
  }
  port.postMessage(answer);
});
