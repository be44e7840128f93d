import { METRICS } from '@int/detect';

/** Where the kernel finds a metric in a hop's INT v2.1 metadata. */
export interface MetricPlace {
  /** Bit of the instruction bitmap, 0 = most significant. */
  readonly bit: number;
  /** 32-bit word of the item. */
  readonly word: number;
  /** The metric is `(word >>> shift) & mask`. */
  readonly shift: number;
  /** Unsigned. */
  readonly mask: number;
  /** Its number in {@link METRICS}. */
  readonly id: number;
}

/** Instruction bit and word of the items that INT v2.1 knows, and of the bits that it reserves (section 5.8). */
const PLACES: Readonly<Record<string, readonly [bit: number, word: number]>> = {
  nodeId: [0, 0],
  l1IngressInterface: [1, 0],
  l1EgressInterface: [1, 0],
  hopLatency: [2, 0],
  queueId: [3, 0],
  queueOccupancy: [3, 0],
  l2IngressInterface: [6, 0],
  l2EgressInterface: [6, 1],
  egressUtilization: [7, 0],
  bufferId: [8, 0],
  bufferOccupancy: [8, 0],
  reserved9: [9, 0],
  reserved10: [10, 0],
  reserved11: [11, 0],
  reserved12: [12, 0],
  reserved13: [13, 0],
  reserved14: [14, 0],
};

/** Where a metric is; `null` if no INT v2.1 hop has it. */
export function placeOf(name: string): MetricPlace | null {
  const place = Object.hasOwn(PLACES, name) ? PLACES[name] : undefined;
  const metric = METRICS.find((each) => each.name === name);
  if (place === undefined || metric === undefined) return null;
  return { bit: place[0], word: place[1], shift: metric.shift, mask: metric.mask >>> 0, id: metric.id };
}
