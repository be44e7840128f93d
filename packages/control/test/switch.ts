import { readFileSync } from 'node:fs';
import { P4RuntimeConnection, type P4RuntimeConnectionOptions } from '@int/control';
import { P4RuntimeServer, P4vmTarget, type PipelineOptions, type p4config, p4infoOf } from '@int/p4runtime';
import { buildProgram } from '@int/p4vm';

const SOURCE: string = readFileSync(new URL('switch.p4', import.meta.url), 'utf8');

const { program } = buildProgram({ name: 'switch.p4', text: SOURCE });
if (program === undefined) throw new Error('switch.p4 does not compile');

export const P4INFO: p4config.P4Info = p4infoOf(program);
const PIPELINE: PipelineOptions = { p4info: P4INFO, deviceConfig: new TextEncoder().encode(SOURCE) };

/** A switch of @int/p4vm behind a P4Runtime server, reached without sockets. A restart leaves nothing in its tables. */
export class TestSwitch {
  server: P4RuntimeServer;

  constructor(readonly id: number) {
    this.server = this.#start();
  }

  connection(options: Partial<P4RuntimeConnectionOptions> = {}): P4RuntimeConnection {
    return new P4RuntimeConnection({
      switchId: this.id,
      target: this.server.transport(),
      retry: { firstMs: 1, maxMs: 10 },
      pipeline: PIPELINE,
      ...options,
    });
  }

  close(): Promise<void> {
    return this.server.close();
  }

  #start(): P4RuntimeServer {
    return new P4RuntimeServer({ devices: [{ deviceId: 1, target: new P4vmTarget(), pipeline: PIPELINE }] });
  }
}
