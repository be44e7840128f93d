/** Errors that are no answers: a target that throws what it should not. */
import { Code } from '@connectrpc/connect';
import { P4RuntimeServer, P4vmTarget, p4v1, type TargetPipeline } from '@int/p4runtime';
import { describe, expect, it } from 'vitest';
import { Controller, refusalOf } from './controller.js';
import { DEVICE_CONFIG, INFO, INSERT, MODIFY, station, TABLE, update } from './everything.js';

const SECRET = 'a secret of the host';

function fault(): never {
  throw new TypeError(SECRET);
}

class FaultyTarget extends P4vmTarget {
  override prepare(...parts: Parameters<P4vmTarget['prepare']>): ReturnType<P4vmTarget['prepare']> {
    const pipeline = super.prepare(...parts);
    const table = (pipeline as TargetPipeline).table(TABLE.stations);
    table.insert = fault;
    table.entryAt = fault;
    Object.defineProperty(table, 'slotCount', { value: 1 });
    return pipeline;
  }

  override packetOut = fault;
}

function bench(onFault?: (error: unknown) => void) {
  const pipeline = { p4info: INFO, deviceConfig: DEVICE_CONFIG };
  const devices = [{ deviceId: 1, target: new FaultyTarget({ cpuPort: 510 }), pipeline }];
  const server = new P4RuntimeServer({ devices, ...(onFault !== undefined && { onFault }) });
  return { server, controller: new Controller(server.transport()) };
}

const INTERNAL = { code: Code.Internal, message: 'internal error' };
const { CONTINUE_ON_ERROR, ROLLBACK_ON_ERROR, DATAPLANE_ATOMIC } = p4v1.WriteRequest_Atomicity;

describe('a fault', () => {
  it.each([CONTINUE_ON_ERROR, ROLLBACK_ON_ERROR, DATAPLANE_ATOMIC])(
    'of a Write is INTERNAL without its text, which the hook gets once (atomicity %i)',
    async (atomicity) => {
      const seen: unknown[] = [];
      const { server, controller } = bench((error) => seen.push(error));
      await controller.lead();
      expect(await refusalOf(controller.write([update(INSERT, station(1, 1))], atomicity))).toEqual(INTERNAL);
      expect(seen.map(String)).toEqual([`TypeError: ${SECRET}`]);
      expect(server.faults).toBe(1);
      // Refusals are none.
      expect((await refusalOf(controller.write([update(MODIFY, station(1, 1))], atomicity))).code).toBe(Code.NotFound);
      expect(server.faults).toBe(1);
      await server.close();
    },
  );

  it('of a Read is INTERNAL, too', async () => {
    const seen: unknown[] = [];
    const { server, controller } = bench((error) => seen.push(error));
    const entities = [{ entity: { case: 'tableEntry' as const, value: { tableId: TABLE.stations } } }];
    const read = async (): Promise<void> => {
      for await (const _ of controller.client.read({ deviceId: 1n, entities }));
    };
    expect(await refusalOf(read())).toEqual(INTERNAL);
    expect(seen).toHaveLength(1);
    await server.close();
  });

  it('of a packet to send is told in the stream, which goes on; without a hook it is counted', async () => {
    const { server, controller } = bench();
    const session = await controller.lead();
    const metadata = [1, 2, 3].map((metadataId) => ({ metadataId, value: Uint8Array.of(0) }));
    const packet = { case: 'packet' as const, value: { payload: new Uint8Array(20), metadata } };
    session.send({ update: packet });
    session.send({ update: packet });
    expect(await session.next('error', 2)).toMatchObject({ canonicalCode: Code.Internal, message: 'internal error' });
    expect(server.faults).toBe(2);
    await server.close();
  });
});
