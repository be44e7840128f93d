/** Lets the requests of a device run one after the other, in the order in which they came. */
export class RequestQueue {
  #tail: Promise<void> = Promise.resolve();

  /** Runs a request once all earlier ones have ended. */
  run<Result>(request: () => Result | Promise<Result>): Promise<Result> {
    const result = this.#tail.then(request);
    this.#tail = result.then(
      () => {},
      () => {},
    );
    return result;
  }
}
