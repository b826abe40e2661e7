// What closed_cupti is linked with where it is built: only the name matters, the real one is there
// when it runs.
extern "C" int cupti_stand_in() {
  return 0;
}
