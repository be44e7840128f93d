import type { SoftSwitch } from '@int/p4switch';

/** A switch of a command that serves one or several. */
export interface ServedSwitch {
  readonly name: string;
  /** For P4Runtime. */
  readonly deviceId: bigint;
  readonly core: SoftSwitch;
  /** The file of its program; null: it waits for a pipeline, or has one of the control plane's. */
  readonly program: string | null;
}
