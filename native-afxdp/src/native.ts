import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { XdpError } from './errors.js';

/** Something of the addon that JavaScript only hands back to it. */
export interface NativeHandle {
  readonly native: unique symbol;
}

let loaded: object | undefined;

/**
 * The functions of the addon, loaded at the first call. Each part of the package describes those that it uses by an
 * interface of its own, and asks for it: `native<SocketFunctions>()`.
 *
 * @throws XdpError ERR_XDP_PLATFORM, ERR_XDP_NOT_BUILT
 */
export function native<Functions extends object>(): Functions {
  loaded ??= load();
  return loaded as Functions;
}

/** File of the addon: INT_AFXDP_ADDON of the environment, else the one built for this architecture. */
function addonFile(): string {
  const given = process.env.INT_AFXDP_ADDON;
  if (given !== undefined && given !== '') return given;
  // The build puts this code into dist/, the sources are in src/: both lie beside prebuilds/. In CommonJS the place is
  // `__filename`, and `import.meta` is empty.
  let folder = dirname(typeof __filename === 'string' ? __filename : fileURLToPath(import.meta.url));
  const file = join('prebuilds', `linux-${process.arch}`, 'afxdp.node');
  for (let levels = 0; levels < 3; levels++) {
    folder = dirname(folder);
    if (existsSync(join(folder, file))) return join(folder, file);
    if (existsSync(join(folder, 'package.json'))) break;
  }
  return join(folder, file);
}

function load(): object {
  if (process.platform !== 'linux') {
    throw new XdpError('ERR_XDP_PLATFORM', `AF_XDP is a part of Linux, and this is ${process.platform}`, {
      hint: 'Receive with a UDP socket here.',
    });
  }
  const file = addonFile();
  if (!existsSync(file)) {
    throw new XdpError('ERR_XDP_NOT_BUILT', `the addon ${file} does not exist`, {
      hint: 'Build it with `npm run build:native`, which needs make and a C compiler.',
    });
  }
  try {
    const module = { exports: {} };
    process.dlopen(module, file);
    return module.exports;
  } catch (cause) {
    throw new XdpError('ERR_XDP_NOT_BUILT', `the addon ${file} cannot be loaded: ${(cause as Error).message}`, {
      hint: 'Build it again on this machine with `npm run build:native`.',
      cause,
    });
  }
}
