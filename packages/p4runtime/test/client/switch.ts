import { readFileSync } from 'node:fs';
import { P4RuntimeClient, type P4RuntimeClientOptions, P4RuntimeServer, P4vmTarget } from '@int/p4runtime';
import { buildProgram, type IrProgram } from '@int/p4vm';

export const SOURCE: string = readFileSync(new URL('switch.p4', import.meta.url), 'utf8');

/** The port of the switch's packets to and from the controller. */
export const CPU = 510;

export function program(text: string = SOURCE): IrProgram {
  const built = buildProgram({ name: 'switch.p4', text });
  if (built.program === undefined) throw new Error(built.diagnostics.list.map(({ message }) => message).join('\n'));
  return built.program;
}

/** A switch behind a server, and clients of it; all end with the test. */
export class Bench {
  readonly target: P4vmTarget = new P4vmTarget({ cpuPort: CPU });
  readonly server: P4RuntimeServer = new P4RuntimeServer({ devices: [{ deviceId: 1, target: this.target }] });
  readonly #clients: P4RuntimeClient[] = [];

  client(options: Partial<P4RuntimeClientOptions> = {}): P4RuntimeClient {
    const made = new P4RuntimeClient({ target: this.server.transport(), ...options });
    this.#clients.push(made);
    return made;
  }

  /** A primary on a switch that runs the program. */
  async primary(options: Partial<P4RuntimeClientOptions> = {}): Promise<P4RuntimeClient> {
    const client = this.client(options);
    await client.connect();
    await client.setPipeline({ program: program(), deviceConfig: new TextEncoder().encode(SOURCE) });
    return client;
  }

  async close(): Promise<void> {
    for (const client of this.#clients) await client.close();
    await this.server.close();
  }
}
