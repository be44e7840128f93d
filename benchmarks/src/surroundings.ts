/** Where and when something was measured: at the head of every file of results. */
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os';

/** The machine's load when the program began: how quiet it was. */
const loadBefore = loadavg()[0]!;

/** As of now; to be asked for when all is measured. */
export function surroundings() {
  return {
    date: new Date().toISOString(),
    node: process.version,
    v8: process.versions.v8,
    kernel: release(),
    machine: {
      cpu: cpus()[0]?.model ?? 'unknown',
      cpus: availableParallelism(),
      memoryGiB: Math.round(totalmem() / 2 ** 30),
      loadBefore,
      loadAfter: loadavg()[0],
    },
  };
}
