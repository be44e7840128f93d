import { CliError, EXIT } from './io.js';

export type Afxdp = typeof import('@int/afxdp');

/** @param user what needs the package, for the message @throws CliError (rejects) if it is not installed */
export async function loadAfxdp(user: string): Promise<Afxdp> {
  try {
    return await import('@int/afxdp');
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!/MODULE_NOT_FOUND/.test(code)) throw error;
    throw new CliError(`${user} needs the package @int/afxdp: npm install @int/afxdp`, EXIT.OPEN, error);
  }
}
