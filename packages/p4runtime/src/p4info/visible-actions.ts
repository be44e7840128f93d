import type { IrProgram } from '@int/p4vm';
import { forEachExpression, walkStatement } from '@int/p4vm/internals';

type Action = IrProgram['actions'][number];
type Control = IrProgram['ingress'];

/**
 * The actions that a control plane sees: those of tables, and those that a control calls by itself. The reference compiler
 * leaves out the others, which no control plane can choose.
 */
export function visibleActions(program: IrProgram): Action[] {
  const seen = new Set(program.tables.flatMap((table) => table.actions.map(({ action }) => action)));
  const { verifyChecksum, ingress, egress, computeChecksum, deparser } = program;
  const controls = new Set<Control>([verifyChecksum, ingress, egress, computeChecksum, deparser]);
  // Controls that are applied join the set while it is read.
  for (const control of controls) {
    walkStatement(control.body, {
      statement: () => {},
      expression: (expression) =>
        forEachExpression(expression, (each) => {
          if (each.kind === 'call-action') seen.add(each.target);
          else if (each.kind === 'apply-instance' && each.target.kind === 'control') controls.add(each.target);
        }),
    });
  }
  return program.actions.filter((action) => seen.has(action));
}
