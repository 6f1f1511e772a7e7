import fc from 'fast-check'

const PIECES = [
  '</script>',
  '</script ',
  '<!--',
  '-->',
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '"',
  "'",
  '`',
  '&lt;',
  '&#60;',
  'javascript:alert(1)',
  'https://example.test/',
  '\u2028',
  '\u2029',
  '\u0000',
  '\u001b[31m',
  '\u202e',
  '\u2066',
  '\u061c',
  '\ud800',
  '\udc00',
  '\r\n',
  '\n',
  ']]>',
  '${1}',
  '\\u003c',
  '{"a":1}',
  '__proto__',
  'constructor',
]
/** Texts of the kind that a page must not take for anything but text. */
export const hostile: fc.Arbitrary<string> = fc.oneof(
  fc
    .array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ unit: 'binary', maxLength: 4 })), { maxLength: 8 })
    .map((parts) => parts.join('')),
  fc.string({ unit: 'binary' }),
)
