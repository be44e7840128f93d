/** The session that runs, redrawn in place in a terminal. */
import type { Graph, MonitorEvent } from '@int/gpint';

const RECENT = 6;
const MOST_CELLS = 600;

type Cell = 'waiting' | 'collected' | 'given-up';

const SIGNS: Readonly<Record<Cell, string>> = {
  waiting: '\x1b[2m·\x1b[22m',
  collected: '\x1b[32m●\x1b[39m',
  'given-up': '\x1b[31m✕\x1b[39m',
};

/** Seconds with two decimals. */
export const seconds = (ns: number): string => `${(ns / 1e9).toFixed(2)} s`;

/** What is known of the session that runs. */
export class LiveView {
  readonly #graph: Graph;
  readonly #out: NodeJS.WriteStream;
  readonly #sessions: number;
  #cells: Cell[] = [];
  #collected = 0;
  #session = 0;
  #startedNs = 0;
  #nowNs = 0;
  #sent = 0;
  #resent = 0;
  #open = 0;
  #recent: string[] = [];
  /** Lines on the screen that the next drawing replaces. */
  #drawn = 0;

  constructor(graph: Graph, out: NodeJS.WriteStream, sessions: number) {
    this.#graph = graph;
    this.#out = out;
    this.#sessions = sessions;
  }

  observe(event: MonitorEvent): void {
    this.#nowNs = Math.max(this.#nowNs, event.timeNs);
    switch (event.kind) {
      case 'session':
        this.#cells = this.#graph.names.map(() => 'waiting');
        this.#collected = 0;
        this.#session = event.session;
        this.#startedNs = event.timeNs;
        this.#open = event.probes;
        this.#sent = 0;
        this.#resent = 0;
        this.#recent = [];
        break;
      case 'sent':
        if (event.recovery) this.#resent++;
        else this.#sent++;
        break;
      case 'home':
      case 'notice':
        for (const node of event.nodes) this.#set(node, 'collected');
        break;
      case 'link':
        this.#tell(event.timeNs, `${this.#name(event.from)} to ${this.#name(event.to)}: ${event.status}`);
        break;
      case 'switch':
        this.#set(event.node, 'given-up');
        this.#tell(event.timeNs, `${this.#name(event.node)} given up: ${event.reason}`);
        break;
      case 'done':
        this.#open--;
        break;
    }
  }

  /** Draws the session as it is at a time. */
  draw(nowNs: number): void {
    const width = Math.max(40, Math.min(120, this.#out.columns ?? 80));
    const total = this.#graph.nodeCount;
    const room = width - 32;
    const full = Math.round((room * this.#collected) / total);
    const bar = `\x1b[32m${'█'.repeat(full)}\x1b[39m\x1b[2m${'░'.repeat(room - full)}\x1b[22m`;
    const lines = [
      `\x1b[1msession ${this.#session} of ${this.#sessions}\x1b[22m  ${seconds(Math.max(nowNs, this.#nowNs) - this.#startedNs)}`,
      `switches  ${bar}  ${this.#collected} of ${total}`,
      `probes    ${this.#sent} sent, ${this.#resent} for recovery, ${this.#open} paths open`,
      ...this.#map(width),
      ...this.#recent,
    ];
    this.erase();
    this.#out.write(`${lines.join('\n')}\n`);
    this.#drawn = lines.length;
  }

  /** Takes the drawing off the screen. */
  erase(): void {
    if (this.#drawn > 0) this.#out.write(`\x1b[${this.#drawn}A\x1b[J`);
    this.#drawn = 0;
  }

  /** A sign for each switch. */
  #map(width: number): string[] {
    const lines: string[] = [];
    const shown = this.#cells.slice(0, MOST_CELLS);
    for (let i = 0; i < shown.length; i += width - 10) {
      const signs = shown.slice(i, i + width - 10).map((cell) => SIGNS[cell]);
      lines.push(`${i === 0 ? 'each' : ''.padEnd(4)}      ${signs.join('')}`);
    }
    return lines;
  }

  #set(node: number, cell: Cell): void {
    const before = this.#cells[node];
    // Measurements may still come of a switch that was given up; it is not given up twice.
    if (before === cell || before === 'collected') return;
    this.#cells[node] = cell;
    if (cell === 'collected') this.#collected++;
  }

  #tell(timeNs: number, text: string): void {
    this.#recent.push(`  \x1b[2m${seconds(timeNs - this.#startedNs)}\x1b[22m  ${text.slice(0, 100)}`);
    if (this.#recent.length > RECENT) this.#recent.shift();
  }

  #name(node: number): string {
    return this.#graph.names[node]!;
  }
}
