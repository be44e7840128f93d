/** Commands for fuzzed switches, with arguments drawn at random: every role of a program, and entries that it cannot bear. */
import type { ProgramName } from '@int/p4';
import type { Random } from '@int/random';

type Draw = (random: Random) => string;

const bit: Draw = (random) => String(random.integer(2));
const byte: Draw = (random) => String(random.integer(256));
const word: Draw = (random) => String(random.integer(0x1_0000));
const long: Draw = (random) => String(random.integer(0x1_0000_0000));
const port: Draw = (random) => String(1 + random.integer(9));
const mac: Draw = (random) => `0x0200000000${random.integer(0x100).toString(16).padStart(2, '0')}`;
const oneOf =
  (...values: readonly (string | number)[]): Draw =>
  (random) =>
    String(values[random.integer(values.length)]);

/** A command made of words and draws. */
function command(text: string, ...draws: readonly Draw[]): Draw {
  return (random) => [text, ...draws.map((draw) => draw(random))].join(' ');
}

/** Items that a source asks for: a few, all that are defined, whatever. */
const instructions: Draw = (random) =>
  [oneOf(0x8000, 0xff80, 0xff81, 0x8001, 0xf000)(random), word(random)][random.integer(2)]!;
const session = oneOf(0, 98, 99, 99, 99);
const often = oneOf(0, 0, 1, 2, 3);
const algorithm = oneOf(0, 1, 2, 3, 4, 4, 9);
const metric = oneOf(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 255);
const threshold = oneOf(0, 0, 10, 4_000_000_000);

function both(make: (ip: string) => readonly Draw[]): Draw[] {
  return ['ipv4', 'ipv6'].flatMap(make);
}

/** A condition of an expression: aggregate, operator, metric and constant. */
const condition: Draw = (random) => {
  const [aggregate, operator] = [random.integer(9), random.integer(7)];
  return String(
    (BigInt(aggregate) << 44n) |
      (BigInt(operator) << 40n) |
      (BigInt(metric(random)) << 32n) |
      BigInt(oneOf(0, 1, 100)(random)),
  );
};

const int: readonly Draw[] = [
  command('table_set_default IntEgress.node IntEgress.set_node', long),
  ...both((ip) => [
    command(`table_set_default IntIngress.forward_${ip} IntIngress.forward`, port),
    command(`table_set_default IntIngress.forward_${ip} IntIngress.forward`, port),
    command(`table_set_default IntIngress.forward_${ip} IntIngress.route`, port, mac, mac),
    command(`table_set_default IntIngress.forward_${ip} IntIngress.drop`, byte),
    command(
      `table_set_default IntIngress.watch_${ip} IntIngress.start_md`,
      oneOf(0, 1, 2),
      instructions,
      byte,
      bit,
      word,
    ),
    command(
      `table_set_default IntIngress.watch_${ip} IntIngress.start_md`,
      oneOf(2, 3),
      instructions,
      byte,
      bit,
      oneOf(0),
    ),
    command(
      `table_set_default IntIngress.watch_${ip} IntIngress.start_mx`,
      oneOf(0, 1, 2),
      instructions,
      bit,
      word,
      often,
    ),
    command(`table_set_default IntIngress.watch_${ip} IntIngress.postcard`, instructions, often),
    command(`table_set_default IntIngress.watch_${ip} IntIngress.ignore`),
    command(
      `table_set_default IntIngress.watch_${ip} IntIngress.start_md_sampled`,
      oneOf(0, 1, 2),
      instructions,
      byte,
      bit,
      word,
      often,
    ),
    command(`table_set_default IntIngress.access_${ip} IntIngress.permit`),
    command(`table_set_default IntIngress.access_${ip} IntIngress.permit`),
    command(`table_set_default IntIngress.access_${ip} IntIngress.deny`, byte, often, oneOf(0, 1023)),
    command(`table_set_default IntIngress.access_${ip} IntIngress.limit_${ip}`, often, oneOf(0, 1023)),
    command(`table_set_default IntIngress.steer_${ip} IntIngress.follow`),
    command(`table_set_default IntIngress.steer_${ip} IntIngress.follow`),
    command(`table_set_default IntIngress.steer_${ip} IntIngress.forward`, port),
    command(`table_set_default IntIngress.steer_${ip} IntIngress.route`, port, mac, mac),
    command(`table_set_default IntIngress.steer_${ip} IntIngress.spread`, oneOf(0, 1, 1, 7)),
    command(`table_set_default IntIngress.forward_${ip} IntIngress.spread`, oneOf(0, 1, 1, 7)),
    ...['a', 'b'].flatMap((bank) => [
      command(
        `table_set_default IntSink.algorithm_${ip}_${bank} IntSink.fast_detection 3`,
        algorithm,
        metric,
        oneOf(0, 2),
        threshold,
        oneOf(0, 3),
        often,
        oneOf(0, 0, 100),
      ),
      command(
        `table_set_default IntSink.algorithm_${ip}_${bank} IntSink.complex_detection 4`,
        oneOf(0, 0, 1, 200),
        often,
        oneOf(0),
      ),
      command(`table_set_default IntSink.algorithm_${ip}_${bank}`, oneOf('IntSink.report_all', 'IntSink.report_none')),
    ]),
  ]),
  command('table_set_default IntIngress.forward_other IntIngress.forward', port),
  command('table_set_default IntIngress.drop_reports IntIngress.report_drops 99'),
  command('table_set_default IntIngress.drop_reports NoAction'),
  command('table_set_default IntIngress.hash_seed IntIngress.set_hash_seed', long),
  // Refused where the group is there already: both are made of many draws.
  command('act_prof_create_group IntIngress.members'),
  command('act_prof_create_member IntIngress.members IntIngress.forward', port),
  command('act_prof_add_member_to_group IntIngress.members', oneOf(0, 1, 2), oneOf(0, 1)),
  command('table_indirect_add_with_group IntIngress.next_hops 1 => 0'),
  command(
    'table_set_default IntEgress.port IntEgress.set_port',
    bit,
    oneOf(0, 0, 60, 100, 1500),
    oneOf(0, 0xff_ffff),
    bit,
    long,
  ),
  command('table_set_default IntEgress.port IntEgress.set_port 1 0 0', bit, oneOf(7, 0xffff_ffff)),
  command('table_set_default IntEgress.ingress_port IntEgress.set_level2_ingress', oneOf(1, 0xffff_ffff)),
  command('table_set_default IntEgress.too_long', oneOf('IntEgress.report_mtu', 'IntEgress.mark_mtu')),
  command('table_set_default IntEgress.reports IntEgress.set_session', session),
  command('table_set_default IntEgress.utilization.rate IntEgress.utilization.measure', oneOf(0, 50), word),
  command('register_write IntSink.bank 0', bit),
  command('table_set_default IntSink.regular IntSink.set_regular', often),
  command('register_write IntSink.logic_clauses', oneOf(0, 1), long),
  command('register_write IntSink.logic_metrics', oneOf(0, 1), oneOf(0, 1, 0xfef, 0xffff)),
  command('register_write IntSink.logic_history', oneOf(0, 1), oneOf(0, 0x8000_0001, 0x8000_0fef)),
  command('register_write IntSink.logic_conditions', (random) => String(random.integer(64)), condition),
  command('register_write IntSink.logic_conditions', (random) => String(random.integer(64)), condition),
];

const DART_WRITE = 'table_set_default DartWrite.collector DartWrite.write';
/** All that it takes but the number of slots. */
const collector = [mac, mac, long, long, word, word, long, long] as const;

const COMMANDS: Readonly<Record<ProgramName, readonly Draw[]>> = {
  int,
  dart: [
    ...int,
    command('table_set_default DartWrite.copies DartWrite.set_copies', oneOf(0, 1, 2, 8, 9), bit, oneOf(1, 2, 300)),
    command(DART_WRITE, ...collector, long),
    command(DART_WRITE, ...collector, oneOf(4096)),
    command('table_set_default DartWrite.collector NoAction'),
  ],
  flowcache: [
    ...int,
    ...['hop_latency', 'queue_occupancy', 'egress_utilization', 'end_to_end'].map((name) =>
      command(`table_set_default FlowCache.${name} FlowCache.set_${name}`, threshold, threshold),
    ),
    command('table_set_default FlowCache.path FlowCache.set_path', bit),
    command('table_set_default FlowCache.exports FlowCache.set_sessions', session, session),
  ],
  intmon: [
    ...['forward_ipv4', 'forward_ipv6', 'forward_other'].flatMap((table) => [
      command(`table_set_default IntmonIngress.${table} IntmonIngress.forward`, port),
      command(`table_set_default IntmonIngress.${table} IntmonIngress.forward`, port),
      command(`table_set_default IntmonIngress.${table} IntmonIngress.drop`),
    ]),
    ...both((ip) => [
      command(`table_set_default IntmonIngress.watch_${ip} IntmonIngress.collect`, byte, byte),
      command(`table_set_default IntmonIngress.watch_${ip} IntmonIngress.collect_sampled`, byte, byte, oneOf(0, 1, 3)),
      command(`table_set_default IntmonIngress.watch_${ip} IntmonIngress.ignore`),
    ]),
    command('table_set_default IntmonEgress.node IntmonEgress.set_node', word),
    command('table_set_default IntmonEgress.node NoAction'),
    command(
      'table_set_default IntmonEgress.port IntmonEgress.set_port',
      bit,
      oneOf(0, 0, 60, 100, 1500),
      oneOf(0, 0, 5),
    ),
    command('table_set_default IntmonEgress.management IntmonEgress.copy_to', session),
    command('table_set_default IntmonEgress.management NoAction'),
    command('table_set_default IntmonEgress.utilization.rate IntmonEgress.utilization.measure', oneOf(0, 50), word),
  ],
  gpint: [
    command('table_set_default GpintIngress.identity GpintIngress.set_identity', word, long, long, oneOf(3, 9, 509)),
    command('table_set_default GpintIngress.identity GpintIngress.set_identity', word, long, long, oneOf(3)),
    command('table_set_default GpintIngress.identity NoAction'),
    command('table_set_default GpintIngress.recovery GpintIngress.recover', oneOf(0, 1, 1000)),
    command('table_set_default GpintIngress.recovery NoAction'),
    command('table_set_default GpintIngress.clone_timeout GpintIngress.keep_for', oneOf(0, 1, 100)),
    command('table_set_default GpintIngress.forward GpintIngress.route', port, byte),
    command('table_set_default GpintIngress.forward GpintIngress.drop'),
  ],
};

const MIRRORS = ['mirroring_add 98 8', 'mirroring_add 99 7'];
const REPORTS = [
  'table_add IntReport.collector IntReport.send 7 => 3 0x020000000001 0x020000000002 10.0.9.1 10.0.9.2 1000 2000 3 600',
  // Found, but nothing is done.
  'table_add IntReport.collector NoAction 8 =>',
];

/** What a switch begins with. */
export const FIRST: Readonly<Record<ProgramName, readonly string[]>> = {
  int: [...MIRRORS, ...REPORTS],
  dart: MIRRORS,
  flowcache: [
    ...MIRRORS,
    ...REPORTS,
    'table_add FlowCacheExport.collector FlowCacheExport.send 7 => 1 0x020000000001 0x020000000002 10.0.9.1 10.0.9.2 1000 2000',
    'table_add FlowCacheExport.collector NoAction 8 =>',
  ],
  intmon: MIRRORS,
  gpint: ['mirroring_add 1 510'],
};

/** All kinds of commands of a program once. Of those of one table the last one counts: they are in no order. */
export function everyCommand(program: ProgramName, random: Random): string[] {
  return random.shuffle(COMMANDS[program].map((draw) => draw(random)));
}

/** One command. */
export function anyCommand(program: ProgramName, random: Random): string {
  const draws = COMMANDS[program];
  return draws[random.integer(draws.length)]!(random);
}
