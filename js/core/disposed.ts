/**
 * Gives `work` an object and disposes of it afterwards, as `using` would: its compiled form throws where `Symbol.dispose` is missing
 * (Safari, Chrome before 134, jsdom).
 */
export function withDisposed<T extends Disposable, R>(value: T, work: (value: T) => R): R {
  try {
    return work(value);
  } finally {
    value[Symbol.dispose]();
  }
}
