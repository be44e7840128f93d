import { createInterface } from 'node:readline/promises';
import { type ClientTls, P4RuntimeClient, P4RuntimeError } from '@int/p4runtime';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { readRegular } from '../../input/text-file.js';
import { CliError, EXIT, type Io, say } from '../../io.js';
import { DataOutput } from '../../output/data-output.js';
import { printable } from '../../output/printable.js';
import { ControlSession } from '../../p4/control/control-session.js';
import { Interpreter } from '../../p4/control/interpreter.js';
import { pipelineCommands } from '../../p4/control/pipeline-commands.js';
import { linesOf, readControlText } from '../../p4/control-file.js';
import { addProgramOptions, type ProgramFlags } from '../../p4/program.js';
import { interruptedCode } from '../../stopping.js';

interface ControlFlags extends ProgramFlags {
  readonly target: string;
  readonly deviceId: bigint;
  readonly electionId: bigint;
  readonly role?: string;
  readonly tls?: true;
  readonly tlsCa?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly tlsName?: string;
}

const CERTIFICATE = { name: 'certificate or key', mostBytes: 1 << 20 } as const;
/** Most messages about one script. */
const MAX_MESSAGES = 1000;

const HELP = `
Commands are those of simple_switch_CLI: table_add, table_dump, counter_read, register_read, mirroring_add, mc_mgrp_create,
act_prof_create_member, pvs_add ... (help lists them). Priorities are as there: the smallest wins. Further ones:
  set_pipeline FILE.p4           gives the switch a program, with the files that it includes
  set_pipeline P4INFO CONFIG     or its P4Info (text, or binary as .bin) and what the switch runs, such as BMv2's JSON
  show_pipeline
  packet_out FIELD=VALUE... HEX  sends a packet, with the fields of the packet_out header
  digest_enable NAME [LIST [MS]] asks for the data of a digest, in lists of LIST or after MS milliseconds; digest_disable NAME
  watch SECONDS [COUNT]          shows packets, digests and idle entries

Examples:
  int p4 control --target 127.0.0.1:9559
  int p4 control --target 127.0.0.1:9559 p4/int/commands/transit.txt
  echo 'table_dump IntIngress.forward_ipv4' | int p4 control
`;

export function define(command: Command, io: Io, done: (exitCode: number) => void): void {
  addProgramOptions(command.argument('[SCRIPT]', 'commands, one a line; - or nothing: from standard input'))
    .option('--target <HOST:PORT>', 'the switch', address, '127.0.0.1:9559')
    .addOption(new Option('--device-id <N>', 'its number').argParser(number64).default(1n, '1'))
    .addOption(
      new Option('--election-id <N>', 'the controller with the highest number may write')
        .argParser(number128)
        .default(1n, '1'),
    )
    .option('--role <NAME>', 'a role that the switch knows')
    .option('--tls', 'encrypt, with the certificates that Node trusts')
    .option('--tls-ca <FILE>', "encrypt; the issuer of the switch's certificate (PEM)")
    .option('--tls-cert <FILE>', 'encrypt; the own certificate (PEM)')
    .option('--tls-key <FILE>', 'its key (PEM)')
    .option('--tls-name <NAME>', "the name in the switch's certificate, if it is not that of the address")
    .addHelpText('after', HELP)
    .action(async (script: string | undefined, flags: ControlFlags) => {
      if ((flags.tlsCert === undefined) !== (flags.tlsKey === undefined)) {
        command.error('error: --tls-cert and --tls-key go together');
      }
      const client = new P4RuntimeClient({ ...(await clientOptions(flags, io)) });
      // A switch that does not answer keeps nobody waiting.
      const end = (): void => void client.close();
      io.signal.addEventListener('abort', end, { once: true });
      try {
        done(await control(client, script, flags, io));
      } finally {
        io.signal.removeEventListener('abort', end);
        await client.close();
      }
    });
}

function address(text: string): string {
  const port = /^(?:\[[0-9a-fA-F:.]+\]|[A-Za-z0-9_.-]+):(\d{1,5})$/.exec(text)?.[1];
  if (port === undefined || Number(port) < 1 || Number(port) > 65_535) {
    throw new InvalidArgumentError('Give HOST:PORT, such as 127.0.0.1:9559.');
  }
  return text;
}

const bits =
  (most: number) =>
  (text: string): bigint => {
    if (!/^\d{1,39}$/.test(text) || BigInt(text) >> BigInt(most) !== 0n) {
      throw new InvalidArgumentError(`Give a whole number of at most ${most} bits.`);
    }
    return BigInt(text);
  };
const number64 = bits(64);
const number128 = bits(128);

async function clientOptions(flags: ControlFlags, io: Io): Promise<ConstructorParameters<typeof P4RuntimeClient>[0]> {
  const { target, deviceId, electionId, role, tlsCa, tlsCert, tlsKey, tlsName } = flags;
  const read = (path: string): Promise<Buffer> => readRegular(path, CERTIFICATE, io.signal);
  const isSecure = flags.tls === true || tlsCa !== undefined || tlsCert !== undefined;
  const tls: ClientTls = {
    ...(tlsCa !== undefined && { ca: await read(tlsCa) }),
    ...(tlsCert !== undefined && { cert: await read(tlsCert) }),
    ...(tlsKey !== undefined && { key: await read(tlsKey) }),
    ...(tlsName !== undefined && { serverName: tlsName }),
  };
  return { target, deviceId, electionId, ...(role !== undefined && { role }), ...(isSecure && { tls }) };
}

async function control(
  client: P4RuntimeClient,
  script: string | undefined,
  flags: ControlFlags,
  io: Io,
): Promise<number> {
  const output = new DataOutput(io.stdout);
  const session = new ControlSession(client, (line) =>
    // Tabs separate, as in simple_switch_CLI.
    output.line(line.split('\t').map(printable).join('\t')),
  );
  const name = script ?? '-';
  const place = { name: name === '-' ? 'standard input' : name, line: 0 };
  const isInteractive = script === undefined && (io.stdin as { isTTY?: boolean }).isTTY === true;
  let told = 0;
  const interpreter = new Interpreter(session, pipelineCommands(flags, io), (message) => {
    const where = isInteractive ? '' : `${place.name}:${place.line}: `;
    if (++told <= MAX_MESSAGES) say(io, `${where}${message}`);
  });
  try {
    if (!(await client.connect())) say(io, 'another controller is the primary: this one may read, not write');
    const lines = isInteractive ? undefined : linesOf(await readControlText(name, io));
    const failures =
      lines === undefined ? await converse(interpreter, output, io) : await run(interpreter, lines, place, io);
    if (told > MAX_MESSAGES) say(io, `${place.name}: ${told - MAX_MESSAGES} more were refused`);
    await output.end();
    return failures > 0 && !isInteractive ? EXIT.INPUT : EXIT.OK;
  } catch (error) {
    await output.end();
    if (io.signal.aborted) throw new CliError('interrupted', interruptedCode(io), error);
    if (!P4RuntimeError.is(error)) throw error;
    const isTaken = /election id already exists/i.test(error.message);
    const hint = isTaken ? '; another controller is there: give a free --election-id, and a higher one to write' : '';
    throw new CliError(`${flags.target}: ${error.message}${hint}`, EXIT.OPEN, error);
  }
}

/** Runs a script. @returns how many commands failed or were left out */
async function run(
  interpreter: Interpreter,
  lines: Iterable<string>,
  place: { line: number },
  io: Io,
): Promise<number> {
  let failures = 0;
  for (const line of lines) {
    if (io.signal.aborted) break;
    place.line++;
    const outcome = await interpreter.run(line);
    if (outcome === 'end') break;
    if (outcome !== 'done') failures++;
  }
  return failures;
}

/** Reads commands from a terminal, with completion of names. */
async function converse(interpreter: Interpreter, output: DataOutput, io: Io): Promise<number> {
  const terminal = createInterface({
    input: io.stdin,
    output: io.stdout,
    completer: (line: string) => interpreter.complete(line),
    prompt: 'P4> ',
  });
  const end = (): void => terminal.close();
  io.signal.addEventListener('abort', end);
  terminal.on('SIGINT', () => (io.quit ?? end)());
  try {
    terminal.prompt();
    for await (const line of terminal) {
      if ((await interpreter.run(line)) === 'end') break;
      await output.flush();
      terminal.prompt();
    }
  } finally {
    io.signal.removeEventListener('abort', end);
    terminal.close();
  }
  return 0;
}
