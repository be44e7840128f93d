import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import type { IncludeResolver } from '@int/p4vm';
import { TargetError } from '../server/target.js';

/** A P4 program with the files that it includes, as a device config holds it. */
export interface DeviceProgram {
  /** Name of the file that the compiler begins with. */
  readonly main: string;
  /** Texts by name. */
  readonly files: Readonly<Record<string, string>>;
  /** Per `#include`: the including file, the path as written, the included file. */
  readonly includes: readonly (readonly [from: string, path: string, file: string])[];
  /** Macros by name, as with the option `-D` of compilers. */
  readonly defines: Readonly<Record<string, string>>;
}

/** Tells a bundle from other JSON, such as a program for BMv2. */
const FORMAT = 'int-p4-program/1';

function wrong(message: string): never {
  throw new TargetError('ERR_TARGET_INVALID', message);
}

function isTexts(value: unknown): value is Record<string, string> {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((text) => typeof text === 'string')
  );
}

function isIncludes(value: unknown): value is [string, string, string][] {
  const isText = (each: unknown): boolean => typeof each === 'string';
  return Array.isArray(value) && value.every((each) => Array.isArray(each) && each.length === 3 && each.every(isText));
}

/** Field `device_data` of p4.tmp.P4DeviceConfig. */
const DEVICE_DATA = 3;

/**
 * The program in a `p4.tmp.P4DeviceConfig`, the envelope that older controllers put around it; other bytes as they are. The
 * message begins with the tag of `reassign`, `extras` or `device_data`, which are control characters that no program begins with.
 *
 * @throws TargetError `ERR_TARGET_INVALID`
 */
function withoutEnvelope(config: Uint8Array): Uint8Array {
  if (![0x08, 0x12, 0x1a].includes(config[0]!)) return config;
  let data: Uint8Array | undefined;
  try {
    const reader = new BinaryReader(config);
    while (reader.pos < reader.len) {
      const [field, type] = reader.tag();
      if (field === DEVICE_DATA && type === WireType.LengthDelimited) data = reader.bytes();
      else reader.skip(type, field);
    }
  } catch {
    return wrong('the device config is neither a P4 program nor a P4DeviceConfig message');
  }
  return data === undefined || data.length === 0 ? wrong('the P4DeviceConfig message has no device_data') : data;
}

/**
 * Reads a device config: the text of a P4 program without includes (other than core.p4 and v1model.p4), or a bundle of
 * files that {@link writeDeviceProgram} made. Either may be in a `p4.tmp.P4DeviceConfig` message.
 *
 * @throws TargetError `ERR_TARGET_INVALID`
 */
export function readDeviceProgram(config: Uint8Array): DeviceProgram {
  if (config.length === 0) return wrong('the device config is empty: it must be a P4 program');
  const bytes = withoutEnvelope(config);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return wrong('the device config is no text: it must be a P4 program');
  }
  if (!/^\s*\{/.test(text)) return { main: 'program.p4', files: { 'program.p4': text }, includes: [], defines: {} };
  let bundle: unknown;
  try {
    bundle = JSON.parse(text);
  } catch {
    return wrong('the device config is neither a P4 program nor JSON');
  }
  const { format, main, files, includes = [], defines = {} } = bundle as Record<string, unknown>;
  if (format !== FORMAT) {
    return wrong('the device config is JSON for another switch, such as BMv2: send the source of the P4 program');
  }
  if (typeof main !== 'string' || !isTexts(files) || !Object.hasOwn(files, main)) {
    return wrong('the bundle of the program has no main file');
  }
  if (!isIncludes(includes) || !isTexts(defines)) return wrong('the bundle of the program is damaged');
  return { main, files, includes, defines };
}

/** A device config from a program and its files. */
export function writeDeviceProgram({ main, files, includes, defines }: DeviceProgram): Uint8Array {
  const isPlain = includes.length === 0 && Object.keys(defines).length === 0;
  const text = isPlain ? files[main]! : JSON.stringify({ format: FORMAT, main, files, includes, defines });
  return new TextEncoder().encode(text);
}

/** Finds the files of a program's includes within its bundle, and nowhere else. */
export function includeResolver({ files, includes }: DeviceProgram): IncludeResolver {
  const targets = new Map(includes.map(([from, path, file]) => [`${from}\n${path}`, file]));
  return (path, { from }) => {
    const name = targets.get(`${from.name}\n${path}`);
    if (name === undefined || !Object.hasOwn(files, name)) return undefined;
    return { name, text: files[name]! };
  };
}
