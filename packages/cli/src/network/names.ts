/** Switches and ports for people, and their names in JSON. */
import type { Topology } from '@int/network';

export { withNames } from '@int/network/internals';

/** A switch: its name, or its number; `?` if a hop did not tell. */
export function switchText(id: number | null | undefined, topology: Topology): string {
  return id == null ? '?' : topology.switchText(id);
}

/** A port: `3 (to spine-1)`, or its number. */
export function portText(switchId: number | null | undefined, port: number, topology: Topology): string {
  const name = switchId == null ? null : topology.portName(switchId, port);
  return name === null ? String(port) : `${port} (${name})`;
}
