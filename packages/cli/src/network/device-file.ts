/** Reading a device file, and checking it against its schema and the rules of @int/network. */
import { dirname, resolve } from 'node:path';
import { DeviceProfile, type DeviceSpec, NetworkError } from '@int/network';
import { Ajv, type ValidateFunction } from 'ajv';
import deviceSchema from '../../schema/device.schema.json' with { type: 'json' };
import intSchema from '../../schema/int.schema.json' with { type: 'json' };
import { ConfigDocument } from '../config/document.js';
import { schemaProblems } from '../config/schema-problems.js';
import { ifGiven } from '../given.js';
import { readText } from '../input/text-file.js';
import { EXIT, type Io } from '../io.js';

interface DeviceFile {
  readonly version: 1;
  readonly device?: DeviceSpec;
  readonly topology?: string;
}

/** A device file that has been read. */
export interface ReadDevice {
  readonly device: DeviceProfile;
  /** The file of the topology, as a path of the process; `null`: none was named. */
  readonly topology: string | null;
}

const DEVICE_FILE = { name: 'device file', mostBytes: 1 << 20, tooLargeCode: EXIT.USAGE } as const;

let compiled: ValidateFunction<DeviceFile> | null = null;

function validator(): ValidateFunction<DeviceFile> {
  compiled ??= new Ajv({ allErrors: true, verbose: true, allowUnionTypes: true })
    .addSchema(intSchema, 'int.schema.json')
    .compile<DeviceFile>(deviceSchema);
  return compiled;
}

/** @throws FileProblems (rejects) with exit code 2 if it is invalid; CliError with exit code 3 if it cannot be read */
export async function readDeviceFile(path: string, io: Io): Promise<ReadDevice> {
  const document = new ConfigDocument(path, await readText(path, DEVICE_FILE, io), io.env, EXIT.USAGE);
  const validate = validator();
  const { value } = document;
  if (!validate(value)) throw schemaProblems(document, validate.errors ?? []);
  try {
    return {
      device: new DeviceProfile(value.device),
      topology: ifGiven(value.topology, (file) => resolve(dirname(resolve(path)), file)) ?? null,
    };
  } catch (error) {
    if (!NetworkError.is(error)) throw error;
    throw document.problems(
      error.problems.map((problem) => ({ ...problem, path: ['device', ...problem.path] })),
      error,
    );
  }
}
