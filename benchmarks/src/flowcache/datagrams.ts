/** The reports of a batch as datagrams: what a collector decodes before it can update a cache. */
import { encodeReport, type Hop, type TelemetryBatch, type TelemetryRecord, telemetry } from '@int/codec';

/** Stands for the values, so that their places can be found in what the encoder wrote. */
const MARK = 0x5a000000;
const SOURCE = 0x0a5a5a01;
const DESTINATION = 0x0a5a5a02;
const PORTS = 0x5a5a5a5b;
const COLUMNS = ['nodeId', 'hopLatency', 'queueOccupancy', 'egressUtilization'] as const;

function record(hops: number): TelemetryRecord {
  const hopOf = (hop: number): Hop => {
    const mark = hop * COLUMNS.length;
    const queueOccupancy = mark + 3;
    return {
      nodeId: MARK | (mark + 1),
      hopLatency: MARK | (mark + 2),
      queueId: 0x5a,
      queueOccupancy,
      egressUtilization: MARK | (mark + 4),
    };
  };
  return telemetry({
    flow: {
      source: '10.90.90.1',
      destination: '10.90.90.2',
      sourcePort: PORTS >>> 16,
      destinationPort: PORTS & 0xffff,
    },
    hops: Array.from({ length: hops }, (_, hop) => hopOf(hop)),
    report: { nodeId: hops },
  });
}

/** One datagram per report, all of one shape. */
export class Datagrams {
  readonly bytes: Uint8Array;
  readonly offsets: Uint32Array;
  readonly lengths: Uint32Array;

  /** @param batch IPv4 flows over UDP, each with as many hops as the first one */
  constructor(batch: TelemetryBatch) {
    const hops = batch.hopCount[0]!;
    const records = [record(hops)];
    const template = encodeReport(records);
    const size = template.length;
    this.bytes = new Uint8Array(size * batch.reports);
    this.offsets = Uint32Array.from({ length: batch.reports }, (_, row) => row * size);
    this.lengths = new Uint32Array(batch.reports).fill(size);
    const places = placesOf(template, hops);
    const view = new DataView(this.bytes.buffer);
    for (let row = 0; row < batch.reports; row++) {
      const at = row * size;
      const first = batch.hopStart[row]!;
      this.bytes.set(template, at);
      view.setUint32(at + places.source, batch.source0[row]!);
      view.setUint32(at + places.destination, batch.destination0[row]!);
      // The destination port is in the shim, where INT has put it.
      view.setUint16(at + places.sourcePort, batch.ports[row]! >>> 16);
      view.setUint16(at + places.destinationPort, batch.ports[row]! & 0xffff);
      places.values.forEach((place, value) => {
        const column = batch.hop[COLUMNS[value % COLUMNS.length]!];
        view.setUint32(at + place, column[first + Math.floor(value / COLUMNS.length)]!);
      });
    }
  }
}

interface Places {
  source: number;
  destination: number;
  sourcePort: number;
  destinationPort: number;
  readonly values: number[];
}

function placesOf(template: Uint8Array, hops: number): Places {
  const view = new DataView(template.buffer, template.byteOffset, template.byteLength);
  const places: Places = { source: -1, destination: -1, sourcePort: -1, destinationPort: -1, values: [] };
  for (let at = 0; at + 4 <= template.length; at += 2) {
    const word = view.getUint32(at);
    const mark = (word & 0xffffff) - 1;
    if (word === SOURCE) places.source = at;
    else if (word === DESTINATION) places.destination = at;
    else if (word >>> 24 === 0x5a && mark < hops * COLUMNS.length) places.values[mark] = at;
    else if (view.getUint16(at) === PORTS >>> 16 && places.sourcePort < 0) places.sourcePort = at;
    else if (view.getUint16(at) === (PORTS & 0xffff)) places.destinationPort = at;
  }
  if (
    Object.values(places)
      .flat()
      .some((place) => !(place > 0)) ||
    places.values.length !== hops * COLUMNS.length
  ) {
    throw new Error('the datagram has no place for a value');
  }
  return places;
}
