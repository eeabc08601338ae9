// Says at once what is wrong when a script is run outside npm on an older Node.
const major = Number(process.versions.node.split('.')[0]);
if (major < 26) {
  console.error(`culvert needs Node 26, this is ${process.version}. Run it through npm ("npm ci" brings Node 26 in).`);
  process.exit(1);
}
