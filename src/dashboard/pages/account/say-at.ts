/** For forms of one field: whatever the API refuses is said there. */
import { showFaults } from '../../parts/form-failure.ts';

type FormLike = Parameters<typeof showFaults>[0];

export function sayAt(form: FormLike, field: string, error: unknown): void {
  const rest = showFaults(form, error);
  if (rest !== undefined) form.setFieldError(field, rest);
}
