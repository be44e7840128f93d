import type { Topology } from '@int/network';
import { putBytes, putUint32 } from './ascii.js';

type Texts = Map<number, Uint8Array>;

const NONE = -1;
const NO_TEXT: Uint8Array = /* @__PURE__ */ new Uint8Array(0);
const encoder = /* @__PURE__ */ new TextEncoder();
const PATH_KEY: Uint8Array = /* @__PURE__ */ encoder.encode(',"pathNames":');

const most = (texts: Iterable<Uint8Array>): number => {
  let bytes = 0;
  for (const { length } of texts) bytes = Math.max(bytes, length);
  return bytes;
};

/**
 * The names of a topology as JSON text, made once: `nodeName` beside `nodeId`, `l1IngressName` and `l1EgressName` beside the
 * interfaces of a hop, `pathNames` beside `path`. Ids are signed words, which need no memory as keys.
 */
export class RecordNames {
  readonly #nodes: Texts = new Map();
  readonly #inPath: Texts = new Map();
  readonly #ingress = new Map<number, Texts>();
  readonly #egress = new Map<number, Texts>();
  /** Bytes of the name beside an id at most. */
  readonly nodeBytes: number;
  /** Bytes of all names of a hop at most, with that in `pathNames`. */
  readonly hopBytes: number;
  /** Bytes of `pathNames` at most, beside the names. */
  readonly pathBytes: number = PATH_KEY.length + 2;

  constructor(topology: Topology) {
    let portBytes = 0;
    for (const { id, name, ports } of topology.switches.values()) {
      if (name !== null) {
        const text = JSON.stringify(name);
        this.#nodes.set(id | 0, encoder.encode(`,"nodeName":${text}`));
        this.#inPath.set(id | 0, encoder.encode(text));
      }
      const [ingress, egress]: [Texts, Texts] = [new Map(), new Map()];
      for (const number of ports.keys()) {
        const portName = topology.portName(id, number);
        if (portName === null) continue;
        const text = JSON.stringify(portName);
        ingress.set(number | 0, encoder.encode(`,"l1IngressName":${text}`));
        egress.set(number | 0, encoder.encode(`,"l1EgressName":${text}`));
      }
      this.#ingress.set(id | 0, ingress);
      this.#egress.set(id | 0, egress);
      portBytes = Math.max(portBytes, most(ingress.values()) + most(egress.values()));
    }
    this.nodeBytes = most(this.#nodes.values());
    // A number in the path has up to 10 digits, and a comma.
    this.hopBytes = this.nodeBytes + portBytes + Math.max(10, most(this.#inPath.values())) + 1;
  }

  /** Writes the name of a switch beside its id, if it has one. */
  putNode(view: DataView, at: number, id: number): number {
    return putBytes(view, at, this.#nodes.get(id) ?? NO_TEXT);
  }

  putPort(view: DataView, at: number, id: number, port: number, isIngress: boolean): number {
    const texts = (isIngress ? this.#ingress : this.#egress).get(id);
    return texts === undefined ? at : putBytes(view, at, texts.get(port) ?? NO_TEXT);
  }

  isNamed(id: number): boolean {
    return id !== NONE && this.#inPath.has(id);
  }

  putPathKey(view: DataView, at: number): number {
    return putBytes(view, at, PATH_KEY);
  }

  /** Writes the name of a switch, or its id. */
  putInPath(view: DataView, at: number, id: number): number {
    const text = this.#inPath.get(id);
    return text === undefined ? putUint32(view, at, id) : putBytes(view, at, text);
  }
}
