import type { Command } from 'commander';
import type { Io } from '../io.js';
import { addListen } from './dart/listen.js';
import { addPlan } from './dart/plan.js';
import { addQuery } from './dart/query.js';
import { addSimulate } from './dart/simulate.js';
import { addWrite } from './dart/write.js';

/** Adds `int dart` and its subcommands. */
export function addDart(program: Command, io: Io, done: (exitCode: number) => void): void {
  const dart = program
    .command('dart')
    .description('Direct telemetry access: a store of hashed slots that switches write into by RDMA, and its theory')
    .helpCommand('help [command]', 'print help');
  addSimulate(dart, io, done);
  addPlan(dart, io, done);
  addWrite(dart, io, done);
  addQuery(dart, io, done);
  addListen(dart, io, done);
}
