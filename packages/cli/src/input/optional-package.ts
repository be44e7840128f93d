import { CliError, EXIT } from '../io.js';

/**
 * Imports an optional package.
 * @param what purpose of the package, for the message
 * @throws CliError (rejects) with instructions if it is missing
 */
export async function optionalPackage<T>(name: string, what: string, module: Promise<T>): Promise<T> {
  try {
    return await module;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') throw error;
    const isMissing = /Cannot find package/.test(message) && message.includes(`'${name}'`);
    const why = isMissing
      ? `${what} needs the package ${name}, which is not installed. Install it with \`npm install ${name}\`.`
      : `${what} needs the package ${name}, which is not built, or not installed as a whole: ${message}`;
    throw new CliError(why, EXIT.OPEN, error);
  }
}
