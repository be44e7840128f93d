import { parseAddress } from '@int/codec';
import type { RecordIds } from '@int/collector';
import { type CacheGeometry, EntryReader, type FlowEntry, type MetricStatistics, REASONS } from '@int/flowcache';
import type { Segment } from '../memory/segment.js';
import { SLAB_STRIDE, type Slab } from '../memory/slab.js';
import { FLOW_ROW } from '../table/flows.js';
import { HourFinder } from './instants.js';

const MISSING = 0xffffffff;

/** Hops as the column `hops` has them: metrics that at least one report carried. */
function hopsJson({ hops }: FlowEntry): string {
  const metric = ({ last, mean, count }: MetricStatistics) => ({ last, mean, count });
  return JSON.stringify(
    hops.map(({ nodeId, metrics }) => ({
      nodeId,
      metrics: Object.fromEntries(
        Object.entries(metrics)
          .filter(([, { count }]) => count > 0)
          .map(([metricName, statistics]) => [metricName, metric(statistics)]),
      ),
    })),
  );
}

export class FlowRows {
  readonly #readers = new WeakMap<CacheGeometry, EntryReader>();
  readonly #path = new Uint32Array(256);
  readonly #mean = new Float64Array(1);
  readonly #meanWords = new Uint32Array(this.#mean.buffer);

  read(words: Int32Array, at: number, geometry: CacheGeometry): FlowEntry {
    let reader = this.#readers.get(geometry);
    if (reader === undefined) {
      reader = new EntryReader(geometry);
      this.#readers.set(geometry, reader);
    }
    return reader.read(words, at);
  }

  /** Appends an entry; the slab has room. */
  append(segment: Segment, slab: Slab, flow: FlowEntry, ids: RecordIds): void {
    const row = slab.rows;
    const { texts } = segment;
    const put = (column: number, value: number): void => {
      slab.words[column * SLAB_STRIDE + row] = value;
    };
    const putTime = (column: number, time: bigint): void => {
      put(column, Number(time & 0xffffffffn));
      put(column + 1, HourFinder.clampHigh(Number(time >> 32n)));
    };
    if (row === 0) slab.used.fill(1);
    const number = ids.next++;
    putTime(FLOW_ROW.FIRST, flow.firstNs);
    putTime(FLOW_ROW.LAST, flow.lastNs);
    put(FLOW_ROW.INSTANCE, ids.instanceLow);
    put(FLOW_ROW.INSTANCE + 1, ids.instanceHigh);
    put(FLOW_ROW.NUMBER, number >>> 0);
    put(FLOW_ROW.NUMBER + 1, Math.floor(number / 2 ** 32));
    put(FLOW_ROW.SOURCE, addressNumber(texts.source, flow.flow.source));
    put(FLOW_ROW.DESTINATION, addressNumber(texts.destination, flow.flow.destination));
    put(FLOW_ROW.PORTS, ((flow.flow.sourcePort << 16) | flow.flow.destinationPort) >>> 0);
    put(FLOW_ROW.PROTOCOL, flow.flow.protocol);
    put(FLOW_ROW.REASON, REASONS.indexOf(flow.reason));
    put(FLOW_ROW.PACKETS, flow.packets);
    put(FLOW_ROW.PATH_CHANGES, flow.pathChanges);
    flow.path.forEach((node, hop) => {
      this.#path[hop] = node ?? MISSING;
    });
    put(FLOW_ROW.PATH, texts.path.path(this.#path, flow.path.length));
    put(FLOW_ROW.PATH_LENGTH, flow.pathLength);
    put(FLOW_ROW.HOPS_BEYOND, flow.hopsBeyond ?? MISSING);
    put(FLOW_ROW.END_TO_END, flow.endToEnd?.last ?? 0);
    put(FLOW_ROW.END_TO_END_COUNT, flow.endToEnd?.count ?? 0);
    this.#mean[0] = flow.endToEnd?.mean ?? 0;
    put(FLOW_ROW.END_TO_END_MEAN, flow.endToEnd === null ? MISSING : this.#meanWords[0]!);
    put(FLOW_ROW.END_TO_END_MEAN + 1, flow.endToEnd === null ? MISSING : this.#meanWords[1]!);
    slab.texts[0]![row] = hopsJson(flow);
    slab.rows++;
    slab.records++;
    segment.rows++;
    segment.records++;
  }
}

function addressNumber(addresses: Segment['texts']['source'], text: string): number {
  const { words } = parseAddress(text);
  const [word0 = 0, word1 = 0, word2 = 0, word3 = 0] = words;
  return words.length === 1 ? addresses.ipv4(word0) : addresses.ipv6(word0, word1, word2, word3);
}
