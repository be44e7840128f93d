/** The program of a worker: the flow cache and the sinks of int.yaml, for the worker's own flows. */
import { dirname, resolve } from 'node:path';
import { type FlowWorkerParts, type Sink, serveFlowWorker } from '@int/collector';
import { Topology } from '@int/network';
import { EXIT, FileProblems } from '../../io.js';
import { deviceOf, type ReadConfig } from '../read-config.js';
import { configSinks } from '../sinks.js';
import { flowGeometry, flowStage } from '../stages.js';
import type { WorkerData, WorkerMessage } from './messages.js';
import { takesFlows, workerPart } from './split.js';

/** Passes entries that left the flow cache to the sinks in the pipeline's thread. */
function relay(tell: (message: WorkerMessage) => void): Sink {
  return {
    name: 'relay',
    records: ['flows'],
    write: () => undefined,
    writeFlows(words, at, records, { bucketStride }) {
      tell({ name: 'flows', words: words.slice(at, at + records * bucketStride), records });
      return undefined;
    },
    totals: () => ({}),
  };
}

async function namesOf({ config: { topology }, path }: ReadConfig): Promise<Topology> {
  if (topology === undefined) return Topology.NONE;
  const { readTopologyFile } = await import('../../network/topology-file.js');
  // The pipeline's thread tells what is odd about the file.
  return readTopologyFile(path(topology), { env: process.env, signal: new AbortController().signal }, () => {});
}

await serveFlowWorker(async ({ data, index, post }): Promise<FlowWorkerParts> => {
  const { config, file } = data as WorkerData;
  const tell = (message: WorkerMessage): void => post(message);
  const read: ReadConfig = {
    config: workerPart(config, index),
    device: deviceOf(config),
    file,
    path: (relative) => resolve(dirname(resolve(file)), relative),
    // The pipeline's thread has already checked this and reported problems with line and column.
    problem: (path, message, cause) => new FileProblems([`${file}: ${path.join('.')}: ${message}`], cause, EXIT.USAGE),
  };
  const names = await namesOf(read);
  const made = await configSinks(read, flowGeometry(read), names, (line) => tell({ name: 'say', line }));
  const sinks = made.map(({ sink }) => sink);
  const flows = flowStage(read, null);
  return {
    stages: flows === null ? [] : [flows],
    sinks: flows !== null && takesFlows(config) ? [...sinks, relay(tell)] : sinks,
  };
});
