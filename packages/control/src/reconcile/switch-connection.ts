import type { Entity } from '@int/p4runtime';
import type { Change } from '../change/change.js';

/** The way to a switch: over P4Runtime, or to one in this process. */
export interface SwitchConnection {
  readonly switchId: number;
  /** Whether the session is there and this controller is its primary. */
  readonly isPrimary: boolean;
  /** Called when the session comes or goes; the tables of a switch that comes may be empty. */
  onChange(listener: () => void): void;
  /** All entities of the tables and objects that this controller writes, its own and those of others. */
  read(): Promise<readonly Entity[]>;
  /** Writes changes in their order. @throws P4RuntimeError with the updates that were refused */
  write(changes: readonly Change[]): Promise<void>;
  close(): Promise<void>;
}
