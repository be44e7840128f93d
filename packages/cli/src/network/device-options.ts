/** Options that say what a network's switches are like: a device file, and the short way. */
import type { DeviceSpec, UnitSpec } from '@int/network';
import { type Command, InvalidArgumentError } from 'commander';
import { given, ifGiven } from '../given.js';
import { addDecodeOptions, type DecodeFlags } from '../options.js';
import { topologyOption } from './topology-option.js';

/** Values of the options for units, parsed by commander. */
export interface UnitFlags {
  readonly device?: string;
  readonly unit?: Readonly<Record<string, UnitSpec>>;
}

/** Values of the options for a network, parsed by commander. */
export interface DeviceFlags extends DecodeFlags, UnitFlags {}

/** `cell(80B)` and `full(10000)` stand for the mappings of a file; other units are written alike. */
function unitSpecOf(text: string): UnitSpec {
  const [, kind, value = ''] = /^(cell|full)\((.+)\)$/.exec(text.trim()) ?? [];
  if (kind === undefined) return text;
  return kind === 'cell' ? { cell: value } : { full: Number(value) };
}

/**
 * An option parser for METRIC=UNIT that may be repeated. Whether there are such a metric and unit is checked when the network
 * is read: help needs no module of units.
 */
function unit(text: string, previous: UnitFlags['unit'] = {}): UnitFlags['unit'] {
  const at = text.indexOf('=');
  if (at < 1 || at === text.length - 1) {
    throw new InvalidArgumentError('Give METRIC=UNIT, as hopLatency=us or queueOccupancy=cell(80B).');
  }
  return { ...previous, [text.slice(0, at)]: unitSpecOf(text.slice(at + 1)) };
}

/** Adds the options for units, for a command that reads telemetry which others have decoded. */
export function addUnitOptions(command: Command): Command {
  return command
    .option('--device <FILE>', "what the network's switches are like (YAML): units, dialect, ports, who may send")
    .option(
      '--unit <METRIC=UNIT>',
      'what one unit of a metric is, as hopLatency=us or queueOccupancy=cell(80B); repeat for more (plain numbers)',
      unit,
    );
}

/** Adds the options for units, for names, and for finding and reading INT. */
export function addNetworkOptions(command: Command): Command {
  return addUnitOptions(addDecodeOptions(command.addOption(topologyOption())));
}

const hex = (value: number | bigint): string => `0x${value.toString(16)}`;

/** What the options say of the switches. */
export function deviceSpecOf(flags: DeviceFlags): DeviceSpec {
  const { intPort: intPorts, reportPort: reportPorts, probePort: probePorts } = flags;
  const { intDscp, greProtocol, probeMarker, profile, unit: units } = flags;
  return given({
    units,
    profile,
    intPorts,
    intDscp: ifGiven(intDscp, ({ value, mask }) => `${hex(value)}/${hex(mask)}`),
    reportPorts,
    probePorts,
    greProtocol,
    probeMarker: ifGiven(probeMarker, hex),
  });
}

/** A description, and another that wins where both say something. Units are joined by metric. */
export function joinedSpec(under: DeviceSpec, over: DeviceSpec): DeviceSpec {
  return {
    ...under,
    ...over,
    ...given({ units: ifGiven(over.units ?? under.units, () => ({ ...under.units, ...over.units })) }),
  };
}
