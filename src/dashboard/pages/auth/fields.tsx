/** The fields that several steps have, with what browsers, phones and password managers go by. */
import { PasswordInput, type PasswordInputProps, TextInput, type TextInputProps } from '@mantine/core';

const PLAIN = { autoCapitalize: 'none', spellCheck: false, required: true, withAsterisk: false, size: 'md' } as const;

/** An address of an account. `type` "email" where the browser may judge it: for an old one the server does. */
export function EmailField(props: TextInputProps) {
  return (
    <TextInput
      label="E-mail address"
      name="email"
      inputMode="email"
      autoComplete="username"
      maxLength={320}
      {...PLAIN}
      {...props}
    />
  );
}

/** A code from an app or an email. */
export function CodeField(props: TextInputProps) {
  return (
    <TextInput name="code" inputMode="numeric" autoComplete="one-time-code" maxLength={64} {...PLAIN} {...props} />
  );
}

/** A password. Mantine marks a wrong one for all but screen readers. */
export function PasswordField(props: PasswordInputProps) {
  const isWrong = props.error !== undefined && props.error !== null && props.error !== false;
  return (
    <PasswordInput
      label="Password"
      maxLength={1024}
      required
      withAsterisk={false}
      size="md"
      visibilityToggleButtonProps={{ 'aria-label': 'Show what is typed' }}
      aria-invalid={isWrong ? true : undefined}
      {...props}
    />
  );
}
