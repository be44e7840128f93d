import type { Topology } from '@int/network';

const encoder = /* @__PURE__ */ new TextEncoder();

type Texts = Map<number, Uint8Array>;

const longest = (texts: Iterable<Uint8Array>): number => {
  let bytes = 0;
  for (const { length } of texts) bytes = Math.max(bytes, length);
  return bytes;
};

/** Bytes of a field beside its text: two of the tag, three of the length. */
const FIELD_BYTES = 5;

/** The names of a topology in UTF-8, made once. Ids are signed words. */
export class NodeNames {
  readonly #nodes: Texts = new Map();
  readonly #ports = new Map<number, Texts>();
  /** Bytes of a field with the name of a switch at most. */
  readonly nodeBytes: number;
  /** Bytes of the fields with the names of a hop at most: of its switch and of two ports. */
  readonly hopBytes: number;

  private constructor(topology: Topology) {
    let portBytes = 0;
    for (const { id, name, ports } of topology.switches.values()) {
      if (name !== null) this.#nodes.set(id | 0, encoder.encode(name));
      const texts: Texts = new Map();
      for (const number of ports.keys()) {
        const portName = topology.portName(id, number);
        if (portName !== null) texts.set(number | 0, encoder.encode(portName));
      }
      this.#ports.set(id | 0, texts);
      portBytes = Math.max(portBytes, longest(texts.values()));
    }
    this.nodeBytes = FIELD_BYTES + longest(this.#nodes.values());
    this.hopBytes = this.nodeBytes + 2 * (FIELD_BYTES + portBytes);
  }

  /** `null`: there are none. */
  static of(topology: Topology | undefined): NodeNames | null {
    return topology === undefined || topology.switches.size === 0 ? null : new NodeNames(topology);
  }

  node(id: number): Uint8Array | undefined {
    return this.#nodes.get(id);
  }

  port(id: number, port: number): Uint8Array | undefined {
    return this.#ports.get(id)?.get(port);
  }
}
