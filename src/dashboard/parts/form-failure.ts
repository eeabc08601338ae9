/** Puts what the API says about a request's fields at the fields of the form; the rest is for the form's own alert. */
import { failureFrom } from '../api/failure.ts';

interface FormLike {
  setFieldError(path: string, error: string): void;
  getValues(): object;
}

/** Returns the message that no field of the form can show, or undefined. */
export function showFaults(form: FormLike, error: unknown): string | undefined {
  const failure = failureFrom(error);
  const values = form.getValues();
  const [shown, rest] = [
    failure.faults.filter(({ path }) => path in values),
    failure.faults.filter(({ path }) => !(path in values)),
  ];
  for (const { path, message } of shown) form.setFieldError(path, message);
  if (shown.length > 0 && rest.length === 0) return undefined;
  return failure.message;
}
