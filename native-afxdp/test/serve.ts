/** What a program offers to the test that starts it. Arguments and results are copied from process to process. */
export type Handlers = Readonly<Record<string, (...args: never[]) => unknown>>;

/** A call, as it goes to the program. */
export interface Call {
  readonly id: number;
  readonly name: string;
  readonly args: readonly unknown[];
}

/** An error that went from process to process. */
export interface Failure {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly errno?: string | null;
  readonly syscall?: string | null;
  readonly hint?: string;
  readonly stack?: string;
}

/** How a call ended. */
export type Answer = { readonly id: number } & ({ readonly result: unknown } | { readonly failure: Failure });

/** Everything of an error that tests look at. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) return { name: 'not an error', message: String(error) };
  const { code, errno, syscall, hint } = error as Partial<Failure>;
  return {
    name: error.name,
    message: error.message,
    ...(code === undefined ? {} : { code }),
    ...(errno === undefined ? {} : { errno }),
    ...(syscall === undefined ? {} : { syscall }),
    ...(hint === undefined ? {} : { hint }),
    ...(error.stack === undefined ? {} : { stack: error.stack }),
  };
}

/** Answers the calls of the test until it goes away; calls may overlap. */
export function serve(handlers: Handlers): void {
  process.on('message', async ({ id, name, args }: Call) => {
    let answer: Answer;
    try {
      answer = { id, result: await handlers[name]!(...(args as never[])) };
    } catch (error) {
      answer = { id, failure: failureOf(error) };
    }
    process.send!(answer);
  });
  process.once('disconnect', () => process.exit());
}
