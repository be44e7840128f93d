import { parentPort, workerData } from 'node:worker_threads';
import { type ModelSwitch, Twin } from '@int/control';
import { readTopologyFile } from '../network/topology-file.js';
import type { RehearsalAnswer, RehearsalRequest, RehearsalStart } from './rehearsal-thread.js';

const port = parentPort!;
const { topologyFile, program, p4info } = workerData as RehearsalStart;
const twin = new Twin({ int: program });
const { signal } = new AbortController();
// What is to be told of the file was told when it was read first.
const topology = readTopologyFile(topologyFile, { env: process.env, signal }, () => {});

port.on('message', async ({ id, switches, failedLinks, collector, rest }: RehearsalRequest) => {
  let answer: RehearsalAnswer;
  try {
    const models = Array.from(switches, ([switchId, isUp]): [number, ModelSwitch] => [
      switchId,
      { id: switchId, program: 'int', p4info, isUp },
    ]);
    const network = { topology: await topology, switches: new Map(models), failedLinks, collector };
    answer = { id, rehearsal: twin.rehearse(network, ...rest) };
  } catch (error) {
    answer = { id, error: error instanceof Error ? error.message : String(error) };
  }
  port.postMessage(answer);
});
