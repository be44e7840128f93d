import type { Command } from 'commander';
import type { Io } from '../io.js';
import { addCheck } from './p4/check.js';
import { addInfo } from './p4/info.js';
import { addPlay } from './p4/play.js';
import { addRun } from './p4/run.js';
import { addStf } from './p4/stf.js';
import { addTrace } from './p4/trace.js';

/** Adds `int p4` and its subcommands. */
export function addP4(program: Command, io: Io, done: (exitCode: number) => void): void {
  const p4 = program
    .command('p4')
    .description('P4_16 programs for v1model switches: check them, run packets through them, test them')
    .helpCommand('help [command]', 'print help');
  addCheck(p4, io, done);
  addRun(p4, io, done);
  addPlay(p4, io, done);
  addStf(p4, io, done);
  addTrace(p4, io, done);
  addInfo(p4, io, done);
}
