import {
  type P4RuntimeClient,
  P4RuntimeError,
  type p4config,
  type ReadTableEntry,
  type TableEntry,
} from '@int/p4runtime';
import type { P4InfoIndex } from '@int/p4runtime/internals';
import { fail } from './command-failure.js';
import { Handles } from './handles.js';

/** A node of the replication engine, which is a set of copies that groups share. */
export interface MulticastNode {
  readonly rid: number;
  ports: readonly number[];
  readonly groups: Set<number>;
}

/** What a session of commands knows: the switch, and the numbers that simple_switch_CLI gives to entries and nodes. */
export class ControlSession {
  readonly #entries = new Map<string, Handles<TableEntry>>();
  readonly nodes = new Map<number, MulticastNode>();
  nextNode = 0;

  /** @param print writes a line of a command's output */
  constructor(
    readonly client: P4RuntimeClient,
    readonly print: (line: string) => Promise<void> | undefined,
  ) {}

  /** @throws P4RuntimeError if the switch has no pipeline */
  async index(): Promise<P4InfoIndex> {
    return (await this.client.codec()).index;
  }

  async table(name: string | undefined): Promise<p4config.Table> {
    return (await this.index()).named('table', name ?? fail('the name of a table is needed'));
  }

  async lines(...lines: readonly string[]): Promise<void> {
    for (const line of lines) await this.print(line);
  }

  /** The entries of a table by number. Those that others made get their numbers when they are seen. */
  async entries(table: string): Promise<readonly { readonly handle: number; readonly entry: ReadTableEntry }[]> {
    const found: { handle: number; entry: ReadTableEntry }[] = [];
    const handles = this.handles(table);
    for await (const entry of this.client.entries(table))
      found.push({ handle: handles.of(keyOf(entry), entry), entry });
    return found.sort((left, right) => left.handle - right.handle);
  }

  /** The entry with a number, as the switch has it now. */
  async entry(table: string, handle: number): Promise<ReadTableEntry> {
    const found = (await this.entries(table)).find((each) => each.handle === handle);
    return found?.entry ?? fail(`the table ${table} has no entry ${handle}`);
  }

  handles(table: string): Handles<TableEntry> {
    let handles = this.#entries.get(table);
    if (handles === undefined) {
      handles = new Handles();
      this.#entries.set(table, handles);
    }
    return handles;
  }

  /** Forgets numbers, because the switch has another program. */
  forget(): void {
    this.#entries.clear();
    this.nodes.clear();
  }

  /** Whether a request fails because something is there already. */
  async isThere(request: Promise<void>): Promise<boolean> {
    try {
      await request;
      return false;
    } catch (error) {
      if (P4RuntimeError.is(error) && error.updates[0]?.grpcName === 'ALREADY_EXISTS') return true;
      throw error;
    }
  }
}

/** What identifies an entry in its table. */
export function keyOf({ match, priority = 0 }: TableEntry): string {
  const fields = Object.keys(match).sort();
  const plain = fields.map((name) => [name, match[name]]);
  return `${priority} ${JSON.stringify(plain, (_, value) => (typeof value === 'bigint' ? `${value}n` : value))}`;
}
