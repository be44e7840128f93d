import { create } from '@bufbuild/protobuf';
import { type Action, Action_ParamSchema, ActionSchema as ActionMessage } from '../generated/p4/v1/p4runtime_pb.js';
import { fits, numberOfBytes, shortestBytes } from '../values/bytes.js';
import type { EntityWriter } from './entity-writer.js';
import { invalid } from './refusal.js';
import type { ActionSchema } from './schema.js';
import type { TargetCall } from './target.js';

/** Reads the parameters of an action. @throws Refusal INVALID_ARGUMENT */
export function readCall({ id, name, parameters }: ActionSchema, { params }: Action): TargetCall {
  if (params.length !== parameters.length) {
    invalid(
      `Unexpected number of action parameters: action ${name} has ${parameters.length}, and ${params.length} are given`,
    );
  }
  const values: bigint[] = [];
  for (let i = 0; i < params.length; i++) {
    const { paramId, value } = params[i]!;
    const parameter = parameters[i]!.id === paramId ? parameters[i]! : parameters.find((each) => each.id === paramId);
    if (parameter === undefined) return invalid(`Unknown action parameter: action ${name} has no ${paramId}`);
    if (values[parameter.position] !== undefined) invalid(`parameter ${parameter.name} is given twice`);
    if (!fits(value, parameter.width)) {
      invalid(`Bytestring provided does not fit within ${parameter.width} bits: action parameter ${parameter.name}`);
    }
    values[parameter.position] = numberOfBytes(value);
  }
  return { kind: 'action', actionId: id, values };
}

/** Writes an Action message. */
export function writeCall(writer: EntityWriter, tag: number, action: ActionSchema, { values }: TargetCall): void {
  const outer = writer.open(tag);
  writer.number(0x08, action.id);
  for (const { id, position } of action.parameters) {
    const inner = writer.open(0x22);
    writer.number(0x10, id);
    writer.value(0x1a, values[position] ?? 0n);
    writer.close(inner);
  }
  writer.close(outer);
}

/** The same as a message. */
export function callMessage(action: ActionSchema, { values }: TargetCall): Action {
  const params = action.parameters.map(({ id, position }) =>
    create(Action_ParamSchema, { paramId: id, value: shortestBytes(values[position] ?? 0n) }),
  );
  return create(ActionMessage, { actionId: action.id, params });
}
