/** The workers of int.yaml, seen from the pipeline. */

import { FlowWorkers, type Outlets, type Stage } from '@int/collector';
import { CliError, EXIT } from '../../io.js';
import type { ReadConfig } from '../read-config.js';
import type { Tell } from '../sink-parts.js';
import { flowGeometry } from '../stages.js';
import type { WorkerData, WorkerMessage } from './messages.js';

/** Workers, and the pipeline's parts for them. */
export interface ConfigWorkers {
  readonly workers: FlowWorkers;
  /** Passes the workers' flow entries to the pipeline's sinks, and drains the workers before the sinks are closed. */
  readonly stage: Stage;
}

/**
 * Starts the workers.
 * @param drainMs longest time to close their sinks
 * @throws CliError (rejects) if one cannot be started
 */
export async function startWorkers(read: ReadConfig, tell: Tell, drainMs: number): Promise<ConfigWorkers> {
  const { config, file } = read;
  const geometry = flowGeometry(read);
  let outlets: Outlets | null = null;
  const data: WorkerData = { config, file };
  let workers: FlowWorkers;
  try {
    workers = await FlowWorkers.start({
      count: config.workers!,
      // The module is beside the command's own file in dist.
      module: new URL('./flow-worker.js', import.meta.url),
      data,
      onData: (value) => {
        const message = value as WorkerMessage;
        if (message.name === 'say') tell(message.line);
        else outlets?.flows(message.words, 0, message.records, geometry!);
      },
      onProblem: ({ where, error }) => tell(`${where}: ${error.message}`),
    });
  } catch (error) {
    throw new CliError(error instanceof Error ? error.message : String(error), EXIT.OPEN, error);
  }
  return {
    workers,
    stage: {
      name: 'worker flows',
      process: () => undefined,
      connect: (to) => {
        outlets = to;
      },
      finish: () => workers.close(drainMs),
    },
  };
}
