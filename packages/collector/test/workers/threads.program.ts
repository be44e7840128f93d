/** A thread of flow workers that writes down what its stage sees and its sink is given. */
import { FLAG, type TelemetryBatch } from '@int/codec';
import { serveFlowWorker } from '@int/collector';

/** How a test wants the thread to behave. */
export interface Behaviour {
  readonly failsToStart?: boolean;
  /** Sequence number of a report at which the thread dies. */
  readonly diesAt?: number;
  /** Milliseconds that the sink takes for each batch. */
  readonly slowMs?: number;
}

export type Line = readonly [flow: string, node: number, sequence: number, hops: readonly number[], time: string];

await serveFlowWorker(({ data, post, index }) => {
  const behaviour = data as Behaviour;
  if (behaviour.failsToStart === true && index === 1) throw new Error('no such thing');
  const lines: Line[] = [];
  const read = (batch: TelemetryBatch): void => {
    for (let row = 0; row < batch.reports; row++) {
      if (batch.code[row] !== 0) continue;
      if (batch.sequence[row] === behaviour.diesAt) process.exit(7);
      const hops = batch.hop.nodeId.slice(batch.hopStart[row], batch.hopStart[row]! + batch.hopCount[row]!);
      const flow = (batch.flags[row]! & FLAG.FLOW) === 0 ? '' : `${batch.source0[row]}:${batch.ports[row]}`;
      const time = String(batch.timeNs(row));
      lines.push([flow, batch.nodeId[row]!, batch.sequence[row]!, [...hops], time]);
    }
  };
  return {
    stages: [{ name: 'lines', process: read }],
    sinks: [
      {
        name: 'slow',
        write: () =>
          behaviour.slowMs === undefined ? undefined : new Promise((resolve) => setTimeout(resolve, behaviour.slowMs)),
        close: async () => post({ closed: index }),
      },
    ],
    onData: (value) => post({ echo: value, seen: lines.length }),
    onDrain: () => post({ lines }),
  };
});
