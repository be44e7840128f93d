import { create } from '@bufbuild/protobuf';
import { p4infoOf, p4v1 } from '@int/p4runtime';
import { buildProgram } from '@int/p4vm';
import { DEVICE_CONFIG, SOURCE } from './program.js';

const { program } = buildProgram({ name: 'routes.p4', text: SOURCE });
if (program === undefined) throw new TypeError('the program has errors');
export const INFO = p4infoOf(program);

const idOf = (
  list: readonly { readonly preamble?: { readonly id: number; readonly name: string } | undefined }[],
  name: string,
): number => list.find(({ preamble }) => preamble?.name === name)?.preamble?.id ?? 0;

export const ROUTES: number = idOf(INFO.tables, 'I.routes');
const ROUTE = idOf(INFO.actions, 'I.route');

/** A Write of `count` routes to hosts, from number `first` on. */
export function writeOf(
  first: number,
  count: number,
  type: p4v1.Update_Type,
  atomicity = p4v1.WriteRequest_Atomicity.CONTINUE_ON_ERROR,
): p4v1.WriteRequest {
  return create(p4v1.WriteRequestSchema, {
    atomicity,
    deviceId: 1n,
    electionId: { low: 1n },
    updates: Array.from({ length: count }, (_, i) => {
      const n = first + i;
      const value = Uint8Array.of(10, n >> 16, n >> 8, n);
      return {
        type,
        entity: {
          entity: {
            case: 'tableEntry' as const,
            value: {
              tableId: ROUTES,
              match: [{ fieldId: 1, fieldMatchType: { case: 'lpm' as const, value: { value, prefixLen: 32 } } }],
              action: {
                type: {
                  case: 'action' as const,
                  value: {
                    actionId: ROUTE,
                    params: [
                      { paramId: 1, value: Uint8Array.of(n & 127) },
                      { paramId: 2, value: Uint8Array.of(2, 0, 0, n >> 16, n >> 8, n) },
                    ],
                  },
                },
              },
            },
          },
        },
      };
    }),
  });
}

/** Loads the program, with another cookie. */
export function pipelineOf(
  cookie: number,
  action: p4v1.SetForwardingPipelineConfigRequest_Action,
): p4v1.SetForwardingPipelineConfigRequest {
  return create(p4v1.SetForwardingPipelineConfigRequestSchema, {
    deviceId: 1n,
    electionId: { low: 1n },
    action,
    config: { p4info: INFO, p4DeviceConfig: DEVICE_CONFIG, cookie: { cookie: BigInt(cookie) } },
  });
}
