import { DOMParser, type Element, type Node } from '@xmldom/xmldom';
import { GpintError } from '../../errors.js';
import { GraphBuilder } from '../builder.js';
import type { Graph } from '../graph.js';
import { microsecondsBetween, type Place, placeOf } from './distance.js';
import { weightOf } from './edge-list.js';

/** Options for reading GraphML. */
export interface GraphmlOptions {
  /**
   * Source of the links' weights. `key` (default): the first edge key in the file of weight, latency, delay, cost,
   * length and distance; no weights without such a key. `distance`: the node keys Latitude and Longitude of the
   * Internet Topology Zoo, as microseconds of light in fibre along the great circle, at least 1; a link of a node
   * without a valid place gets the mean of the others. `none`: all links cost the same.
   */
  readonly weights?: 'key' | 'distance' | 'none';
}

/** A network as a GraphML file has it: what telemetry can be joined with. */
export interface GraphmlNetwork {
  /** In the order of the file. */
  readonly nodes: readonly GraphmlNode[];
  /** Ends are indexes of `nodes`. */
  readonly links: readonly GraphmlLink[];
}

export interface GraphmlNode {
  /** As {@link Graph.names}. */
  readonly name: string;
  /**
   * Switch id, 0 to 2^32 - 1: the node key switchId, nodeId, switch or id (also with `_` or `-`), else the XML id if it
   * is a number; `null` if the file has none.
   */
  readonly id: number | null;
}

export interface GraphmlLink {
  readonly source: number;
  readonly target: number;
  /** The edge's attribute `sourceport`, if it is a number; else `null`. */
  readonly sourcePort: number | null;
  readonly targetPort: number | null;
}

const ID_KEYS = ['switchid', 'nodeid', 'switch', 'id'] as const;
const WEIGHT_KEYS = ['weight', 'latency', 'delay', 'cost', 'length', 'distance'] as const;

/**
 * Most namespaces. The parser copies all earlier ones at each declaration, so a million nested ones would take forever.
 */
const MOST_NAMESPACES = 1000;

const ELEMENT = 1;
const TEXT = 3;
const CDATA = 4;

interface Key {
  /** Name in lower case. */
  readonly name: string;
  readonly of: string;
}

interface FoundNode {
  readonly id: string;
  readonly label: string;
  readonly place: Place | null;
  readonly switchId: number | null;
}

/** A number of 32 bits; `null` for any other text. */
function idOf(text: string | null | undefined): number | null {
  if (text == null || !/^(?:0|[1-9]\d{0,9})$/.test(text)) return null;
  const id = Number(text);
  return id <= 0xffffffff ? id : null;
}

function bad(line: number, message: string): GpintError {
  return new GpintError('ERR_GPINT_TOPOLOGY', line > 0 ? `line ${line}: ${message}` : message, { line });
}

function lineOf(node: Node): number {
  return node.lineNumber ?? 0;
}

/**
 * Parses XML. Text that is not well-formed is an error, and so are entity declarations, which GraphML does not need.
 */
function rootOf(text: string): Element {
  const entity = text.indexOf('<!ENTITY');
  if (entity >= 0) throw bad(text.slice(0, entity).split('\n').length, 'entity declarations are refused');
  if (text.split('xmlns', MOST_NAMESPACES + 2).length > MOST_NAMESPACES + 1) {
    throw bad(0, `there are more than ${MOST_NAMESPACES} namespace declarations`);
  }
  let line = 0;
  let complaint = '';
  const parser = new DOMParser({
    onError: (level, message, context: { readonly locator?: { readonly lineNumber?: number } }) => {
      if (level === 'warning' || complaint !== '') return;
      line = context.locator?.lineNumber ?? 0;
      complaint = message;
      throw new Error(message);
    },
  });
  let root: Element | null = null;
  try {
    root = parser.parseFromString(text, 'text/xml').documentElement;
  } catch (cause) {
    const reason = complaint === '' && cause instanceof Error ? cause.message : complaint;
    throw new GpintError('ERR_GPINT_TOPOLOGY', `line ${line}: the file is not well-formed XML: ${reason}`, {
      line,
      cause,
    });
  }
  if (root === null || root.localName !== 'graphml') {
    throw bad(root === null ? 0 : lineOf(root), `the root element is ${root?.nodeName ?? 'missing'}, not graphml`);
  }
  return root;
}

/** Elements below `root` in document order, without recursion, because files may be nested deeply. */
function* elementsBelow(root: Element): Generator<Element> {
  let node: Node | null = root.firstChild;
  while (node !== null) {
    if (node.nodeType === ELEMENT) yield node as Element;
    if (node.firstChild !== null) {
      node = node.firstChild;
      continue;
    }
    while (node !== null && node.nextSibling === null) {
      node = node.parentNode;
      if (node === root) return;
    }
    node = node?.nextSibling ?? null;
  }
}

/** Text directly in an element. */
function textOf(element: Element): string {
  let text = '';
  for (let node = element.firstChild; node !== null; node = node.nextSibling) {
    if (node.nodeType === TEXT || node.nodeType === CDATA) text += node.nodeValue ?? '';
  }
  return text.trim();
}

/** Reads one GraphML document. */
class Reader {
  readonly #keys = new Map<string, Key>();
  readonly #nodes: FoundNode[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #edges: Element[] = [];

  constructor(root: Element) {
    const nodes: Element[] = [];
    for (const element of elementsBelow(root)) {
      if (element.localName === 'key') this.#addKey(element);
      else if (element.localName === 'node') nodes.push(element);
      else if (element.localName === 'edge') this.#edges.push(element);
      else if (element.localName === 'hyperedge') throw bad(lineOf(element), 'a link of more than two ends');
    }
    // Keys may be declared after their use.
    for (const element of nodes) this.#addNode(element);
    if (this.#nodes.length === 0) throw bad(0, 'there is no node in the GraphML file');
  }

  graph(weights: 'key' | 'distance' | 'none'): Graph {
    const builder = new GraphBuilder();
    for (const name of this.#names()) builder.addNode(name);
    const ends = this.#edges.map((edge) => [this.#endOf(edge, 'source'), this.#endOf(edge, 'target')] as const);
    const costs = weights === 'key' ? this.#keyWeights() : weights === 'distance' ? this.#distances(ends) : null;
    for (const [i, [a, b]] of ends.entries()) {
      const cost = costs?.[i];
      if (cost === undefined) builder.addLink(a, b);
      else builder.addLink(a, b, cost);
    }
    return builder.build();
  }

  network(): GraphmlNetwork {
    const names = this.#names();
    return {
      nodes: this.#nodes.map(({ switchId }, k) => ({ name: names[k]!, id: switchId })),
      links: this.#edges.map((edge) => ({
        source: this.#endOf(edge, 'source'),
        target: this.#endOf(edge, 'target'),
        sourcePort: idOf(edge.getAttribute('sourceport')),
        targetPort: idOf(edge.getAttribute('targetport')),
      })),
    };
  }

  #addKey(element: Element): void {
    const id = element.getAttribute('id');
    if (id === null) throw bad(lineOf(element), 'a key without id');
    const name = element.getAttribute('attr.name') ?? id;
    this.#keys.set(id, { name: name.toLowerCase(), of: element.getAttribute('for') ?? 'all' });
  }

  #addNode(element: Element): void {
    const id = element.getAttribute('id');
    if (id === null) throw bad(lineOf(element), 'a node without id');
    if (this.#numbers.has(id)) throw bad(lineOf(element), `a second node with the id "${id}"`);
    this.#numbers.set(id, this.#nodes.length);
    const data = this.#dataOf(element, 'node');
    const plain = new Map([...data].map(([key, value]) => [key.replaceAll(/[-_ ]/g, ''), value]));
    const given = ID_KEYS.map((key) => idOf(plain.get(key))).find((each) => each !== null);
    this.#nodes.push({
      switchId: given ?? idOf(id),
      id,
      label: data.get('label') ?? data.get('name') ?? '',
      place: placeOf(data.get('latitude'), data.get('longitude')),
    });
  }

  /** Values of an element by key name in lower case, without empty ones. */
  #dataOf(element: Element, kind: string): Map<string, string> {
    const data = new Map<string, string>();
    for (let child = element.firstChild; child !== null; child = child.nextSibling) {
      if (child.nodeType !== ELEMENT || (child as Element).localName !== 'data') continue;
      const id = (child as Element).getAttribute('key');
      const key = id === null ? undefined : this.#keys.get(id);
      if (key === undefined) throw bad(lineOf(child), `data of the key "${id ?? ''}", which is not declared`);
      const value = textOf(child as Element);
      if ((key.of === kind || key.of === 'all') && value !== '') data.set(key.name, value);
    }
    return data;
  }

  /** Names of the nodes: labels, with the id if a label is empty or not unique. */
  #names(): string[] {
    const times = new Map<string, number>();
    for (const { label } of this.#nodes) times.set(label, (times.get(label) ?? 0) + 1);
    const taken = new Set<string>();
    return this.#nodes.map(({ id, label }) => {
      let name = label === '' ? id : times.get(label) === 1 ? label : `${label} (${id})`;
      // The name may equal another node's label.
      while (taken.has(name)) name = `${name} (${id})`;
      taken.add(name);
      return name;
    });
  }

  #endOf(edge: Element, end: 'source' | 'target'): number {
    const id = edge.getAttribute(end);
    if (id === null) throw bad(lineOf(edge), `an edge without ${end}`);
    const node = this.#numbers.get(id);
    if (node === undefined) throw bad(lineOf(edge), `an edge of the node "${id}", which there is not`);
    return node;
  }

  /** Weight of each edge by its key; `undefined` for an edge without one; `null` if no edge key is a weight. */
  #keyWeights(): (number | undefined)[] | null {
    const names = new Set<string>();
    for (const key of this.#keys.values()) {
      if (key.of === 'edge' || key.of === 'all') names.add(key.name);
    }
    const name = WEIGHT_KEYS.find((each) => names.has(each));
    if (name === undefined) return null;
    return this.#edges.map((edge) => {
      const text = this.#dataOf(edge, 'edge').get(name);
      if (text === undefined) return undefined;
      const weight = weightOf(text);
      if (Number.isNaN(weight)) throw bad(lineOf(edge), `"${text}" is not a positive ${name}`);
      return weight;
    });
  }

  #distances(ends: readonly (readonly [number, number])[]): number[] {
    const known = ends.map(([a, b]) => {
      const from = this.#nodes[a]!.place;
      const to = this.#nodes[b]!.place;
      return from === null || to === null ? null : microsecondsBetween(from, to);
    });
    let sum = 0;
    let count = 0;
    for (const distance of known) {
      if (distance === null) continue;
      sum += distance;
      count++;
    }
    if (count === 0 && ends.length > 0) throw bad(0, 'no link joins two nodes with latitude and longitude');
    return known.map((distance) => distance ?? sum / count);
  }
}

/**
 * Reads GraphML (graphml.graphdrawing.org), as the Internet Topology Zoo and most tools write it. A node's name is its
 * key `label` (or `name`), label and id if the label is not unique, or the id without a label. Directions of edges are
 * ignored. Nodes of nested graphs count like any other.
 *
 * @throws {@link GpintError} `ERR_GPINT_TOPOLOGY`, with the line, for a file that is not well-formed, declares entities
 *   or more than 1000 namespaces, lacks an id or an end, refers to unknown nodes or keys, has a weight that is not
 *   positive, has no nodes, or has no places if distances are requested
 */
export function parseGraphml(text: string, options: GraphmlOptions = {}): Graph {
  return new Reader(rootOf(text)).graph(options.weights ?? 'key');
}

/**
 * Reads GraphML as `parseGraphml` of `@int/gpint` does, with what a graph leaves out: switch ids, ports, and several links between
 * the same two nodes.
 *
 * @example
 * const { nodes, links } = parseGraphmlNetwork(text);
 * for (const { source, target } of links) console.log(nodes[source].name, nodes[target].name);
 * @throws {@link GpintError} `ERR_GPINT_TOPOLOGY`, as `parseGraphml`
 */
export function parseGraphmlNetwork(text: string): GraphmlNetwork {
  return new Reader(rootOf(text)).network();
}
