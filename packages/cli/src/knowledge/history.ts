/** Reading a history in Parquet into a knowledge plane. */
import type { KnowledgePlane, MetricObservation } from '@int/knowledge';
import type { ResultValue } from '@int/sink-parquet';
import { opening } from '../interruption.js';
import { CliError, EXIT, type Io } from '../io.js';
import { CheckedFiles } from '../query/checked-files.js';

/** One row per hop; times in microseconds, which a double holds. */
const HOPS = `select id, epoch_us("time"), source, destination, protocol, "sourcePort", "destinationPort",
  path, "nodeId", "hopLatency", "queueId", "queueOccupancy", "l1EgressInterface", "egressUtilization"
  from hops order by "time", id, hop`;

const number = (value: ResultValue | undefined): number => Number(value ?? 0);

/**
 * Reads a history from its beginning: of each report its packet, and what its hops measured. The history has no lengths and no
 * flags of TCP.
 * @returns reports read
 * @throws CliError if it cannot be opened, or is damaged
 */
export async function readHistory(
  directory: string,
  plane: KnowledgePlane,
  onProgress: () => void,
  io: Io,
): Promise<number> {
  // DuckDB is slow to load, and other inputs do not need it.
  const { History, HistoryError } = await import('@int/sink-parquet');
  const checked = await CheckedFiles.open(directory, io);
  let reports = 0;
  try {
    const history = await opening(io, 'the history', History.open({ directory, checked }));
    const stop = (): void => history.interrupt();
    io.signal.addEventListener('abort', stop, { once: true });
    try {
      let before: ResultValue | undefined;
      for await (const rows of (await history.query(HOPS)).chunks()) {
        for (const row of rows) {
          if (row[0] !== before) reports++;
          takeHop(plane, row, row[0] !== before);
          before = row[0];
        }
        onProgress();
        if (io.signal.aborted) break;
      }
      return reports;
    } finally {
      io.signal.removeEventListener('abort', stop);
      history.close();
    }
  } catch (error) {
    if (!HistoryError.is(error)) throw error;
    if (error.code === 'ERR_HISTORY_INTERRUPTED') return reports;
    const exit = error.code === 'ERR_HISTORY_STORE' ? EXIT.OPEN : EXIT.INPUT;
    throw new CliError(`cannot read ${directory}: ${error.message}`, exit, error);
  } finally {
    await checked.save();
  }
}

function takeHop(plane: KnowledgePlane, row: readonly ResultValue[], isFirst: boolean): void {
  const [, time, source, destination, protocol, sourcePort, destinationPort, path, node, ...values] = row;
  const [latency, queue, occupancy, port, utilization] = values;
  const timeMs = number(time) / 1000;
  if (isFirst && typeof source === 'string' && typeof destination === 'string') {
    plane.packet({
      ...{ timeMs, source, destination, protocol: number(protocol), lengthBytes: 0 },
      ...{ sourcePort: number(sourcePort), destinationPort: number(destinationPort) },
      ...(typeof path === 'string' && { path: JSON.parse(path) as number[] }),
    });
  }
  if (node == null) return;
  const add = (
    metric: MetricObservation['metric'],
    part: ResultValue | undefined,
    value: ResultValue | undefined,
  ): void => {
    if (part != null && value != null) {
      plane.metric({ timeMs, metric, switchId: number(node), part: number(part), value: number(value) });
    }
  };
  add('hopLatency', 0, latency);
  add('queueOccupancy', queue, occupancy);
  add('egressUtilization', port, utilization);
}
