import type { IrProgram } from '../ir/program.js';
import { createSwitch } from '../switch/create-switch.js';
import { V1Switch } from '../switch/v1-switch.js';
import { runStfOn, type StfResult, type StfTarget } from './run-stf.js';

/** A switch as packet tests see it. */
function targetOf(machine: V1Switch): StfTarget {
  const { control } = machine;
  return {
    program: machine.program,
    process: (port, frame) => machine.process(port, frame),
    command: (line) => machine.command(line),
    counter(name, index) {
      const counter = control.counters.get(name, 'ERR_CONTROL_UNKNOWN_EXTERN', 'counter');
      const value =
        counter.kind === 'counter'
          ? counter.read(index)
          : control.table(control.tableOf(counter).declaration.name).counter(index);
      return { packets: BigInt(value.packets), bytes: BigInt(value.bytes) };
    },
    register: (name, index) => BigInt(control.register(name).read(index)),
    clearTables() {
      for (const table of machine.state.tables) if (!table.declaration.areEntriesConst) table.clear();
    },
  };
}

/**
 * Runs a packet test in the format of p4c's tests (STF): sends packets one after the other, and at the end compares
 * each port's output with the expected packets, in order. Ports that the test does not mention are ignored. In `add`
 * the larger priority wins.
 *
 * @param target a program, for which a switch is made, or an existing switch
 * @throws StfSyntaxError if the text cannot be read
 */
export function runStf(target: IrProgram | V1Switch, text: string): StfResult {
  return runStfOn(targetOf(target instanceof V1Switch ? target : createSwitch(target)), text);
}
