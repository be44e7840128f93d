/** The switches of a rehearsal on another thread: programs are sent once, then only what changes. */
import { type ModelSwitch, Twin } from '@int/control';
import type { ControlProgram } from './network.js';

/** What of a switch changes, or names its program. */
export type RehearsedSwitch = Pick<ModelSwitch, 'program' | 'isUp'>;

export const twinOf = (programs: readonly ControlProgram[]): Twin =>
  new Twin(Object.fromEntries(programs.map(({ name, program }) => [name, program])));

/** The same switches, as those of a model. */
export function switchesOf(
  switches: ReadonlyMap<number, RehearsedSwitch>,
  programs: readonly ControlProgram[],
): ReadonlyMap<number, ModelSwitch> {
  return new Map(
    Array.from(switches, ([id, { program, isUp }]) => {
      const { pipeline } = programs.find(({ name }) => name === program)!;
      return [id, { id, program, p4info: pipeline.p4info, isUp }];
    }),
  );
}
