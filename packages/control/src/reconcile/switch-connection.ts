import type { Entity, p4config } from '@int/p4runtime';
import type { Change } from '../change/change.js';

/** What a switch has. */
export interface SwitchContents {
  readonly p4info: p4config.P4Info;
  /** All entities of the tables and objects that a controller writes, its own and those of others. */
  readonly entities: readonly Entity[];
}

/** The way to a switch: over P4Runtime, or to one in this process. */
export interface SwitchConnection {
  readonly switchId: number;
  /** Whether the session is there and this controller is its primary. */
  readonly isPrimary: boolean;
  /** Called when the session comes or goes; the tables of a switch that comes may be empty. One listener at a time. */
  onChange(listener: () => void): void;
  /** @throws P4RuntimeError */
  read(): Promise<SwitchContents>;
  /** Writes changes in their order. @throws P4RuntimeError with the updates that were refused; the others are done */
  write(changes: readonly Change[]): Promise<void>;
  close(): Promise<void>;
}
